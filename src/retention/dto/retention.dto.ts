import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { EventRetention } from '../entities/event-retention.entity';

const EVENT_DAYS_MIN = 30;
const EVENT_DAYS_MAX = 3650;

export class ChangeRetentionDto {
  /**
   * Events that were received earlier are removed; their event ids stay known. Null or absent: all events are kept.
   * @example 365
   */
  @IsOptional()
  @IsInt()
  @Min(EVENT_DAYS_MIN)
  @Max(EVENT_DAYS_MAX)
  @ApiProperty({ type: 'integer', nullable: true, required: false })
  eventDays?: number | null;
}

export class RetentionDto {
  /**
   * Full days that events are kept after their receipt; null: for ever.
   * @example 365
   */
  eventDays!: number | null;

  /** Null: the workspace has never changed it. */
  changedAt!: Date | null;

  /** The id of the credential that changed it, `oidc:` and the subject of a person, or a name such as `command line`. */
  changedBy!: string | null;

  /**
   * How far the removal is: events received earlier are gone, except those that were still being processed. Null: it
   * has not removed any yet.
   */
  expiredBefore!: Date | null;

  static of(rule: EventRetention | null): RetentionDto {
    const { eventDays = null, changedAt = null, changedBy = null, expiredBefore = null } = rule ?? {};
    return { eventDays, changedAt, changedBy, expiredBefore };
  }
}
