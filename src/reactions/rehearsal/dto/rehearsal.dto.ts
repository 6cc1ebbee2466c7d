import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { FaultDto } from '../../../platform/errors/problem-details.dto';
import { REACTION_OUTCOMES } from '../../../ingest/queue/processing-record';
import { VARIABLE_VALUE } from '../../../variables/domain/value-type';
import { DefineReactionDto } from '../../dto/reaction.dto';
import { REACTION_SCHEMA } from '../../domain/reaction-definition';
import { REASON_CODES, type ReasonCode } from '../domain/explain';
import { EVENT_IDS_MAX, LAST_MAX } from '../domain/rehearsal-request';
import type { Rehearsal } from '../rehearsal.service';

/**
 * What to test, a `reaction` or the `name` of one, and on which events: an `event`, some `eventIds`, or the `last` ones.
 * Documents what `domain/rehearsal-request.ts` checks.
 */
export class TestReactionDto {
  /** A definition, which need not be stored. */
  @ApiPropertyOptional({ type: DefineReactionDto })
  reaction?: DefineReactionDto;

  /** Of a reaction of the campaign. */
  @ApiPropertyOptional({ ...REACTION_SCHEMA.name, example: 'count-purchases' })
  name?: string;

  /** The body of an event of either family, which is not stored. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  event?: Record<string, unknown>;

  /** Of stored events; requires `events:read`, too. */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', format: 'uuid' },
    minItems: 1,
    maxItems: EVENT_IDS_MAX,
  })
  eventIds?: string[];

  /** So many of the newest stored events of the reaction's type; requires `events:read`, too. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: LAST_MAX, example: 100 })
  last?: number;
}

/** The part of the reaction that decided, without values of the event. */
export class RehearsalReasonDto {
  /** @example "when.and[1][\">=\"]" */
  path!: string;

  @ApiProperty({ enum: Object.keys(REASON_CODES), enumName: 'RehearsalReason', example: 'condition_not_met' })
  code!: ReasonCode;

  /** @example "when.and[1][\">=\"] does not hold; the event has no event.properties.amount." */
  message!: string;
}

/** A change that the reaction would make, from the values as they are now. */
export class RehearsedChangeDto {
  /** @example "state.user.points" */
  path!: string;

  /**
   * What a read shows now; absent without `state:read`, and then nothing says whether the value takes the change. Personal
   * data are masked without `pii:read`.
   */
  @ApiPropertyOptional({ ...VARIABLE_VALUE, nullable: true })
  previous?: unknown;

  @ApiPropertyOptional(VARIABLE_VALUE)
  current?: unknown;
}

/** What the reaction would do with one event, taken by itself. */
export class RehearsedEventDto {
  /** Null: the event would be refused. */
  eventId!: string | null;

  /** Whether type, source and `when` fit. The time of the definition does not count. */
  matched!: boolean;

  @ApiProperty({ enum: REACTION_OUTCOMES })
  outcome!: (typeof REACTION_OUTCOMES)[number];

  why!: RehearsalReasonDto;

  changes!: RehearsedChangeDto[];

  /** Why the reaction would fail, or the event would be refused. */
  faults!: FaultDto[];
}

export class RehearsalDto {
  /** In the order of `eventIds`, or newest first. */
  items!: RehearsedEventDto[];

  /** How many events were left out: the time of the request was used up, or the answer had half a megabyte. */
  @ApiProperty({ type: 'integer' })
  omitted!: number;

  static of({ items, omitted }: Rehearsal): RehearsalDto {
    return {
      items: items.map(({ changes, faults, ...item }) => ({ ...item, changes: [...changes], faults: [...faults] })),
      omitted,
    };
  }
}
