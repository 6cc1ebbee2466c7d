import { ApiProperty } from '@nestjs/swagger';
import type { SchemaObject } from '../../platform/http/openapi/open-api-schema';
import { VARIABLE_VALUE } from '../../variables/domain/value-type';
import type { StateBranch, StateTree, SystemFields } from '../domain/state-tree';

/** One branch of the tree of state. */
export const STATE_BRANCH: { type: 'object'; additionalProperties: SchemaObject } = {
  type: 'object',
  additionalProperties: { ...VARIABLE_VALUE, nullable: true },
};

/** Every declared variable by its name: its value, else its default, else null. */
export class StateTreeDto implements StateTree {
  @ApiProperty({ ...STATE_BRANCH, example: { points: 120 } })
  user!: StateBranch;

  @ApiProperty({ ...STATE_BRANCH, example: { revenue: 29.33 } })
  campaign!: StateBranch;

  @ApiProperty({ ...STATE_BRANCH, example: {} })
  app!: StateBranch;
}

export class StateDto {
  state!: StateTreeDto;

  static of(state: StateTree): StateDto {
    return { state };
  }
}

/** Fields that the service sets; participants can neither read nor write them. */
export class SystemFieldsDto {
  /** The `sid` of the participant's last token that had one and changed something. */
  sessionId!: string | null;
}

export class ParticipantStateTreeDto extends StateTreeDto {
  system!: SystemFieldsDto;
}

export class ParticipantStateDto {
  state!: ParticipantStateTreeDto;

  static of(state: StateTree, system: SystemFields): ParticipantStateDto {
    return { state: { ...state, system } };
  }
}
