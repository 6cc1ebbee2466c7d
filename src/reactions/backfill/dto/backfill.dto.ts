import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsDefined, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { TIMESTAMP_CHARACTERS_MAX } from '../../../ingest/domain/event';
import { WORK_STATES, type WorkState } from '../../../platform/jobs/work-states';
import { BACKFILL_END_REASONS, type BackfillEndReason, type VariableSum } from '../domain/backfill';
import type { ReactionBackfill } from '../entities/reaction-backfill.entity';

/** More than a backfill reaches on one machine. */
const EVENTS_PER_SECOND_MAX = 10_000;

/** Which events the reaction comes to, and how. */
export class StartBackfillDto {
  /** Events received from then on. With an offset or `Z`. */
  @IsDefined()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-01-01T00:00:00Z' })
  from!: string;

  /** And before then. A range ends with the last event received so far: later events meet the reaction anyway. */
  @IsDefined()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-02-01T00:00:00Z' })
  to!: string;

  /** True changes nothing, and adds up what would change. */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;

  /**
   * Events of the reaction in a second, at most. Absent: about a quarter of what one connection can do.
   * @example 500
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(EVENTS_PER_SECOND_MAX)
  eventsPerSecondMax?: number;
}

export class BackfillStartedDto {
  /** The id for `GET …/backfills/{jobId}`, which shows the progress. */
  jobId!: string;
}

/** What the operations on one variable would add up to. */
export class VariableSumDto {
  /** @example "state.user.points" */
  path!: string;

  /** Events that would change it. */
  @ApiProperty({ type: 'integer' })
  events!: number;

  /** What `inc` and `dec` add up to, in decimal; null beyond ±2^53. */
  sum!: number | null;

  /** How often it would be set. */
  @ApiProperty({ type: 'integer' })
  sets!: number;
}

/** A backfill and its progress. `scanned` is the sum of `applied`, `waiting`, `skipped` and `failed`. */
export class BackfillDto {
  jobId!: string;

  campaignId!: string;

  /**
   * The name of the reaction.
   * @example "count-purchases"
   */
  reaction!: string;

  from!: Date;

  to!: Date;

  dryRun!: boolean;

  @ApiPropertyOptional({ type: 'integer' })
  eventsPerSecondMax?: number;

  /** `failed`: it ended early, and `reason` says why. */
  @ApiProperty({ enum: WORK_STATES, enumName: 'BackfillState' })
  state!: WorkState;

  /** Of a failed one: the reaction was redefined, switched off or deleted; or the job gave up. */
  @ApiPropertyOptional({ enum: BACKFILL_END_REASONS, enumName: 'BackfillEndReason' })
  reason?: BackfillEndReason;

  /** Events of the reaction's type and source in the range; null until they are counted. */
  @ApiProperty({ type: 'integer', nullable: true, example: 100 })
  total!: number | null;

  /** How many of them were looked at. */
  @ApiProperty({ type: 'integer', example: 60 })
  scanned!: number;

  /** Those that meet `when`, and that the reaction came to for the first time. */
  @ApiProperty({ type: 'integer', example: 45 })
  matched!: number;

  /**
   * Those whose changes were made; in a dry run, would be made. A dry run reads no values: it includes changes that would
   * leave limits, and those of values that a later event has set.
   */
  @ApiProperty({ type: 'integer', example: 44 })
  applied!: number;

  /** Those that wait until their customer has an EXTERNAL identifier. */
  @ApiProperty({ type: 'integer', example: 1 })
  waiting!: number;

  /**
   * Those that do not meet `when`, that the reaction has come to before, that would leave limits or were set by a later
   * event, that expired meanwhile, or whose person was erased.
   */
  @ApiProperty({ type: 'integer', example: 15 })
  skipped!: number;

  /** Those in the review area now, from where they can be replayed. */
  @ApiProperty({ type: 'integer', example: 0 })
  failed!: number;

  /**
   * Of a dry run: what each variable would change by. Left out for callers without `pii:read` if the reaction reads personal data, or
   * has changed since.
   */
  sums?: VariableSumDto[];

  createdAt!: Date;

  /** The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  startedAt!: Date | null;

  finishedAt!: Date | null;

  static of(backfill: ReactionBackfill, withSums: boolean): BackfillDto {
    const { id, campaignId, name, isDryRun, eventsPerSecondMax, state, reason, phase } = backfill;
    const { scanned, matched, applied, waiting, skipped, failed } = backfill;
    const { requestedAt, requestedBy, startedAt, finishedAt } = backfill;
    return {
      jobId: id,
      campaignId,
      reaction: name,
      from: backfill.receivedFrom,
      to: backfill.receivedTo,
      dryRun: isDryRun,
      ...(eventsPerSecondMax === null ? {} : { eventsPerSecondMax }),
      state,
      ...(reason === null ? {} : { reason }),
      total: phase === 'survey' ? null : backfill.total,
      scanned,
      matched,
      applied,
      waiting,
      skipped,
      failed,
      ...(isDryRun && withSums ? { sums: backfill.sums.map((sum: VariableSum) => ({ ...sum })) } : {}),
      createdAt: requestedAt,
      createdBy: requestedBy,
      startedAt,
      finishedAt,
    };
  }
}

export class BackfillPageDto {
  items!: BackfillDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
