import { ApiProperty } from '@nestjs/swagger';
import type { StateBranch } from '../domain/state-tree';
import type { ListedPage, ListedParticipant } from '../state.service';
import { STATE_BRANCH, SystemFieldsDto } from './state.dto';

/** The participant's own values. The state of any participant has those of the campaign and of apps. */
export class OwnStateTreeDto {
  /** Every declared variable of scope `user` by its name: its value, else its default, else null. */
  @ApiProperty({ ...STATE_BRANCH, example: { points: 120 } })
  user!: StateBranch;

  system!: SystemFieldsDto;
}

/** A participant of a campaign. */
export class ParticipantDto {
  /**
   * The `sub` of the participant's tokens.
   * @example "customer-4711"
   */
  sub!: string;

  state!: OwnStateTreeDto;

  static of({ subject, user, system }: ListedParticipant): ParticipantDto {
    return { sub: subject, state: { user, system } };
  }
}

export class ParticipantPageDto {
  items!: ParticipantDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ participants, nextCursor }: ListedPage): ParticipantPageDto {
    return { items: participants.map((each) => ParticipantDto.of(each)), nextCursor };
  }
}
