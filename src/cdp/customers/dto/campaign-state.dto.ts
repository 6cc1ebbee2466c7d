import type { OwnStateTreeDto } from '../../../runtime/dto/participant.dto';
import type { CampaignState, CampaignStatePage } from '../../../runtime/campaign-states';

/** The state of a customer in one campaign. */
export class CampaignStateDto {
  /** @example "spring-sale" */
  campaignId!: string;

  state!: OwnStateTreeDto;

  /** When a value last changed. */
  updatedAt!: Date;

  static of({ campaignId, user, system, updatedAt }: CampaignState): CampaignStateDto {
    return { campaignId, state: { user, system }, updatedAt };
  }
}

export class CampaignStatePageDto {
  /** By campaign. */
  items!: CampaignStateDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ states, nextCursor }: CampaignStatePage): CampaignStatePageDto {
    return { items: states.map((each) => CampaignStateDto.of(each)), nextCursor };
  }
}
