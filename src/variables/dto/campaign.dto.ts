import type { Page } from '../../platform/pagination/page';
import type { ListedCampaign } from '../campaign-reader';

/** A campaign of the workspace. It begins with its first variable. */
export class CampaignDto {
  /** @example "spring-sale" */
  campaignId!: string;

  /**
   * How many variables are in force, of all scopes.
   * @example 3
   */
  variables!: number;

  /**
   * How many reactions are defined, also disabled ones.
   * @example 1
   */
  reactions!: number;

  /** When its first variable was defined. */
  createdAt!: Date;

  static of({ campaignId, variables, reactions, createdAt }: ListedCampaign): CampaignDto {
    return { campaignId, variables, reactions, createdAt };
  }
}

export class CampaignPageDto {
  items!: CampaignDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ rows, nextCursor }: Page<ListedCampaign>): CampaignPageDto {
    return { items: rows.map((each) => CampaignDto.of(each)), nextCursor };
  }
}
