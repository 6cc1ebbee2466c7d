import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../ingest/domain/event-limits';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { OPERATION_KINDS, OPERATIONS_MAX, PATH_CHARACTERS_MAX } from '../../runtime/domain/operation';
import type { VariableValue } from '../../variables/domain/variable';
import { VARIABLE_VALUE } from '../../variables/dto/variable.dto';
import { REACTION_WARNING_CODES, REACTION_WARNINGS_MAX, type ReactionWarningCode } from '../domain/reaction-warnings';
import { VALUE_PATH_CHARACTERS_MAX } from '../domain/value-path';
import type { Reaction } from '../entities/reaction.entity';

const CONDITION: { type: 'object'; additionalProperties: true; example: object } = {
  type: 'object',
  additionalProperties: true,
  example: { '>=': [{ var: 'event.properties.amount' }, 20] },
};
const NAME = { pattern: PATH_NAME.source, example: 'count-purchases' };

/** A change of one variable: with a `value`, or with one that is found in the event. */
export class ReactionOperationDto {
  /** Of a variable that the campaign declares. */
  @ApiProperty({ maxLength: PATH_CHARACTERS_MAX, example: 'state.user.points' })
  path!: string;

  @ApiProperty({ enum: OPERATION_KINDS, example: 'inc' })
  op!: string;

  /** Of the variable's type; a number for `inc` and `dec`. */
  @ApiProperty({ ...VARIABLE_VALUE, required: false })
  value?: VariableValue;

  /**
   * Where in the event's record the value stands: a field of it, or a path below `identity` or `properties`, with `event.` before it
   * or without. Identity, and properties that are personal, may be written to `user` scope only.
   */
  @ApiProperty({ maxLength: VALUE_PATH_CHARACTERS_MAX, required: false, example: 'properties.amount' })
  valueFrom?: string;
}

/** Checked by `domain/reaction-definition.ts`. A full definition: what it does not say is removed. */
export class DefineReactionDto {
  /** Unique in the campaign. */
  @ApiProperty(NAME)
  name!: string;

  /** Events of this type; of the external-events family, their `type`. */
  @ApiProperty({ minLength: 1, maxLength: EVENT_TYPE_CHARACTERS_MAX, example: 'purchase' })
  eventType!: string;

  /** Only events of this source; any when absent. */
  @ApiProperty({ minLength: 1, maxLength: SOURCE_CHARACTERS_MAX, required: false })
  source?: string;

  /**
   * Only events for which this is truthy: a rule in JsonLogic over `event`, the event's record, and over its fields. At most 8 KiB
   * and 200 operators. What it may cost with one event is bounded by the size of what it compares, to some milliseconds.
   */
  @ApiPropertyOptional(CONDITION)
  when?: Record<string, unknown>;

  /** Applied in their order, wholly or not at all, once for each event. */
  @ApiProperty({
    type: [ReactionOperationDto],
    minItems: 1,
    maxItems: OPERATIONS_MAX,
    example: [{ path: 'state.user.points', op: 'inc', value: 10 }],
  })
  ops!: ReactionOperationDto[];

  /** False switches it off; true when absent. */
  @ApiProperty({ required: false })
  enabled?: boolean;
}

/** What a campaign does when an event arrives. */
export class ReactionDto {
  campaignId!: string;

  name!: string;

  eventType!: string;

  /** Absent: of any source. */
  source?: string;

  /** Absent: always. */
  @ApiPropertyOptional(CONDITION)
  when?: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: [ReactionOperationDto] })
  ops!: readonly ReactionOperationDto[];

  enabled!: boolean;

  /** It applies to events received from then on. */
  appliesFrom!: Date;

  createdAt!: Date;

  updatedAt!: Date;

  static of({ campaignId, name, eventType, source, condition, operations, enabled, ...times }: Reaction): ReactionDto {
    const { appliesFrom, createdAt, updatedAt } = times;
    return {
      ...{ campaignId, name, eventType },
      ...(source === null ? {} : { source }),
      ...(condition === null ? {} : { when: condition }),
      ...{ ops: operations, enabled, appliesFrom, createdAt, updatedAt },
    };
  }
}

/** Something of a definition that will never do what it says; the reaction is defined all the same. */
export class ReactionWarningDto {
  /** The place in the body, the way it was written. */
  @ApiProperty({ example: 'when[">="][0].var' })
  path!: string;

  @ApiProperty({ enum: Object.keys(REACTION_WARNING_CODES), example: 'unknown_path' })
  code!: ReactionWarningCode;

  /** What will never happen, and what was probably meant. */
  @ApiProperty({
    example:
      'when[">="][0].var reads amount, which no event has; it is always absent. Did you mean event.properties.amount?',
  })
  message!: string;
}

export class DefinedReactionDto {
  @ApiProperty({ enum: ['defined'] })
  status!: 'defined';

  reaction!: ReactionDto;

  /** Always a list, empty when nothing is odd; the same again for a definition that is in force already. */
  @ApiProperty({ type: [ReactionWarningDto], maxItems: REACTION_WARNINGS_MAX, example: [] })
  warnings!: readonly ReactionWarningDto[];
}

export class ReactionPageDto {
  items!: ReactionDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
