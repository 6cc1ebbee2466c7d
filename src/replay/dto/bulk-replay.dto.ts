import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsIn, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { REVIEW_STAGES, type ReviewStage, type ReviewStatus } from '../../review/domain/review-entry';
import { REPLAY_STATES, type ReplayFilter } from '../domain/bulk-replay';
import type { ReviewReplay } from '../entities/review-replay.entity';

const REPLAYED_STATUSES = ['open'] as const satisfies ReviewStatus[];

/** Selects open refusals: those that match every field; `{}` matches all. */
export class ReplayFilterDto {
  /** Only open entries are replayed, with or without this field. */
  @IsOptional()
  @IsIn(REPLAYED_STATUSES)
  @ApiProperty({ enum: REPLAYED_STATUSES })
  status?: ReviewStatus;

  /** The step of the pipeline where the problem occurred. */
  @IsOptional()
  @IsIn(REVIEW_STAGES)
  @ApiProperty({ enum: REVIEW_STAGES })
  stage?: ReviewStage;

  /** @example "unregistered_event_type" */
  @IsOptional()
  @IsString()
  @MaxLength(128)
  reason?: string;

  @IsOptional()
  @IsString()
  @MaxLength(256)
  source?: string;

  @IsOptional()
  @IsString()
  @MaxLength(256)
  eventType?: string;
}

export class BulkReplayDto {
  @IsDefined()
  @ValidateNested()
  @Type(() => ReplayFilterDto)
  filter!: ReplayFilterDto;
}

export class BulkReplayStartedDto {
  /** The id for `GET /v1/review-replays/{jobId}`, which shows the progress. */
  jobId!: string;
}

/** A bulk replay and its progress. */
export class ReviewReplayDto {
  jobId!: string;

  /** `queued` until the first entries are done; `failed` if the job gave up. */
  @ApiProperty({ enum: REPLAY_STATES, enumName: 'ReviewReplayState' })
  state!: string;

  /** The number of entries that matched when the replay started. */
  total!: number;

  /** How many of them are accepted, duplicate or failed. */
  done!: number;

  accepted!: number;

  /** The event was stored or processed already. */
  duplicate!: number;

  /** The event was refused again, or there was nothing to send. The resolution of each entry has the reason. */
  failed!: number;

  filter!: ReplayFilterDto;

  createdAt!: Date;

  /** The id of the credential. */
  createdBy!: string;

  finishedAt!: Date | null;

  static of(replay: ReviewReplay): ReviewReplayDto {
    const { id, state, total, accepted, duplicate, failed, filter, createdAt, createdBy, finishedAt } = replay;
    return {
      jobId: id,
      state,
      total,
      done: accepted + duplicate + failed,
      accepted,
      duplicate,
      failed,
      filter,
      createdAt,
      createdBy,
      finishedAt,
    };
  }
}

/** The filter with its default; fields that were not sent stay absent. */
export function replayFilter({ status = 'open', ...others }: ReplayFilterDto): ReplayFilter {
  return { status, ...others };
}
