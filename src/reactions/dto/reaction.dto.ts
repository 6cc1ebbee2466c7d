import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { LimitPolicy, OperationKind } from '../../runtime/domain/operation';
import type { VariableValue } from '../../variables/domain/variable';
import { REACTION_SCHEMA } from '../domain/reaction-definition';
import { REACTION_OPERATION_SCHEMA } from '../domain/reaction-operations';
import { REACTION_WARNING_CODES, REACTION_WARNINGS_MAX, type ReactionWarningCode } from '../domain/reaction-warnings';
import type { Reaction } from '../entities/reaction.entity';

const CONDITION = {
  ...REACTION_SCHEMA.when,
  example: { '>=': [{ var: 'event.properties.amount' }, 20] },
};

/** A change of one variable: with a `value`, or with one from the event. */
export class ReactionOperationDto {
  /** Of a variable that the campaign declares. */
  @ApiProperty({ ...REACTION_OPERATION_SCHEMA.path, example: 'state.user.points' })
  path!: string;

  @ApiProperty({ ...REACTION_OPERATION_SCHEMA.op, example: 'inc' })
  op!: OperationKind;

  /** Of the variable's type; a number for `inc` and `dec`. */
  @ApiProperty({ ...REACTION_OPERATION_SCHEMA.value, required: false })
  value?: VariableValue;

  /**
   * Where in the event's record the value stands: a field of it, or a path below `identity` or `properties`, with
   * `event.` before it or without. Identity, and properties that are personal, may be written to `user` scope only.
   */
  @ApiProperty({ ...REACTION_OPERATION_SCHEMA.valueFrom, required: false, example: 'properties.amount' })
  valueFrom?: string;

  /**
   * `clamp`: if the variable would leave its limits, it is moved to the limit. Absent: the reaction is skipped.
   */
  @ApiProperty({ ...REACTION_OPERATION_SCHEMA.onLimit, required: false })
  onLimit?: LimitPolicy;
}

/**
 * A full definition: an absent field is removed. Documents what `domain/reaction-definition.ts` checks, by its tables.
 */
export class DefineReactionDto {
  /** Unique in the campaign. */
  @ApiProperty({ ...REACTION_SCHEMA.name, example: 'count-purchases' })
  name!: string;

  /** Events of this type; of the external-events family, their `type`. */
  @ApiProperty({ ...REACTION_SCHEMA.eventType, example: 'purchase' })
  eventType!: string;

  /** Only events of this source; any when absent. */
  @ApiProperty({ ...REACTION_SCHEMA.source, required: false })
  source?: string;

  /**
   * Only events for which this is truthy: a rule in JsonLogic over `event`, the event's record, and over its fields. At
   * most 8 KiB and 200 operators. What it may cost with one event is bounded by the size of what it compares, to some
   * milliseconds.
   */
  @ApiPropertyOptional(CONDITION)
  when?: Record<string, unknown>;

  /** Applied in their order, wholly or not at all, once for each event. */
  @ApiProperty({
    type: [ReactionOperationDto],
    ...REACTION_SCHEMA.ops,
    example: [{ path: 'state.user.points', op: 'inc', value: 10 }],
  })
  ops!: ReactionOperationDto[];

  /** False switches it off; true when absent. */
  @ApiProperty({ ...REACTION_SCHEMA.enabled, required: false })
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
      campaignId,
      name,
      eventType,
      ...(source === null ? {} : { source }),
      ...(condition === null ? {} : { when: condition }),
      ops: operations,
      enabled,
      appliesFrom,
      createdAt,
      updatedAt,
    };
  }
}

/** A part of a definition that can never have an effect; the reaction is defined all the same. */
export class ReactionWarningDto {
  /** The field, the way the client wrote it. */
  @ApiProperty({ example: 'when[">="][0].var' })
  path!: string;

  @ApiProperty({ enum: Object.keys(REACTION_WARNING_CODES), example: 'unknown_path' })
  code!: ReactionWarningCode;

  /** Why it has no effect, and what was probably meant. */
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

  /** Always a list, possibly empty; the same again for a definition that is already in force. */
  @ApiProperty({ type: [ReactionWarningDto], maxItems: REACTION_WARNINGS_MAX, example: [] })
  warnings!: readonly ReactionWarningDto[];
}

export class ReactionPageDto {
  items!: ReactionDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
