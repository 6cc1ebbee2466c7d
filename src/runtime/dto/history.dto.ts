import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { QueryText } from '../../platform/http/query-text.decorator';
import type { Page } from '../../platform/pagination/page';
import { PageQuery } from '../../platform/pagination/page.query';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { VARIABLE_VALUE } from '../../variables/domain/value-type';
import {
  VARIABLE_NAME,
  VARIABLE_SCOPES,
  type VariableScope,
  type VariableValue,
} from '../../variables/domain/variable';
import { OPERATION_KINDS, type OperationKind } from '../domain/operation';
import { CAUSE_KINDS, type ChangeCause } from '../domain/value-change';
import type { HistoryEntry } from '../history-reader';

/** Characters of a time; the longest form of ISO 8601 is shorter. */
const TIME_CHARACTERS_MAX = 64;

export class HistoryQuery extends PageQuery {
  /** Changes at this time or later. */
  @QueryText(TIME_CHARACTERS_MAX, 'date-time')
  from?: string;

  /** Changes before this time. */
  @QueryText(TIME_CHARACTERS_MAX, 'date-time')
  to?: string;
}

export class ParticipantHistoryQuery extends HistoryQuery {
  /** Changes of this variable only. */
  @IsOptional()
  @IsString()
  @Matches(VARIABLE_NAME)
  name?: string;
}

export class SharedHistoryQuery extends HistoryQuery {
  /** The app, for the scope `app`; `default` when absent. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  app_id?: string;
}

/** Why a value was changed. */
export class ChangeCauseDto {
  @ApiProperty({ enum: CAUSE_KINDS })
  kind!: ChangeCause['kind'];

  /**
   * Of a mutation, as the client sent it; absent if it sent none, or if the person was erased.
   * @example "checkout-4711"
   */
  mutationId?: string;

  /**
   * Of a mutation: the id of the backend's API key, or, for a value that participants share, the participant's `sub`.
   * Absent for a participant's change of an own value, and if the person was erased.
   * @example "customer-4711"
   */
  actor?: string;

  /** The campaign of the reaction. */
  campaignId?: string;

  /**
   * The name of the reaction.
   * @example "count-purchases"
   */
  reaction?: string;

  /** The event that the reaction reacted to. */
  eventId?: string;
}

/** One change of a value by one operation. */
export class HistoryEntryDto {
  at!: Date;

  @ApiProperty({ enum: VARIABLE_SCOPES, enumName: 'VariableScope' })
  scope!: VariableScope;

  /** @example "points" */
  name!: string;

  @ApiProperty({ enum: OPERATION_KINDS })
  op!: OperationKind;

  /**
   * What a read would have shown before: the `current` of the entry before, or the default in a new period; null where
   * there was neither a value nor a default.
   * @example 100
   */
  @ApiProperty({ ...VARIABLE_VALUE, nullable: true })
  previous!: VariableValue | null;

  /** @example 110 */
  @ApiProperty(VARIABLE_VALUE)
  current!: VariableValue;

  /** The beginning of the period that the value belongs to; absent for a variable without periods. */
  periodStart?: Date;

  cause!: ChangeCauseDto;

  static of({ at, scope, name, op, previous, current, cause, changedBy, periodStart }: HistoryEntry): HistoryEntryDto {
    return {
      at,
      scope,
      name,
      op,
      previous,
      current,
      ...(periodStart === null ? {} : { periodStart }),
      cause: { ...cause, ...(changedBy === '' ? {} : { actor: changedBy }) },
    };
  }
}

export class HistoryPageDto {
  items!: HistoryEntryDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ rows, nextCursor }: Page<HistoryEntry>): HistoryPageDto {
    return { items: rows.map((row) => HistoryEntryDto.of(row)), nextCursor };
  }
}
