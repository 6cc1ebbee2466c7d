import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsIn, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { REVIEW_STAGES, type ReviewStage, type ReviewStatus } from '../../review/domain/review-entry';
import { REPLAY_STATES, type ReplayFilter } from '../domain/replay-progress';
import type { ReviewReplay } from '../entities/review-replay.entity';

const REPLAYED_STATUSES = ['open'] as const satisfies ReviewStatus[];

/** Which open refusals are meant: those that every field fits; `{}` means all. */
export class ReplayFilterDto {
  /** Only open entries are replayed, named or not. */
  @IsOptional()
  @IsIn(REPLAYED_STATUSES)
  @ApiProperty({ enum: REPLAYED_STATUSES })
  status?: ReviewStatus;

  /** Where on its way an event met trouble. */
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
  /** Asks `GET /v1/review-replays/{jobId}` how far it has got. */
  jobId!: string;
}

/** A bulk replay and how far it has got. */
export class ReviewReplayDto {
  jobId!: string;

  /** `queued` until the first entries are done; `failed` when it could not go on. */
  @ApiProperty({ enum: REPLAY_STATES, enumName: 'ReviewReplayState' })
  state!: string;

  /** Entries that fitted when it was asked for. */
  total!: number;

  /** Of them, those that are accepted, duplicate or failed. */
  done!: number;

  accepted!: number;

  /** Their events were stored, or processed, already. */
  duplicate!: number;

  /** Refused again, or nothing was there to send; each entry's resolution tells why. */
  failed!: number;

  filter!: ReplayFilterDto;

  createdAt!: Date;

  /** The id of the credential. */
  createdBy!: string;

  finishedAt!: Date | null;

  static of(replay: ReviewReplay): ReviewReplayDto {
    const { id, state, total, accepted, duplicate, failed, filter, createdAt, createdBy, finishedAt } = replay;
    return {
      ...{ jobId: id, state, total, done: accepted + duplicate + failed, accepted, duplicate, failed },
      ...{ filter, createdAt, createdBy, finishedAt },
    };
  }
}

/** Without the fields that were not sent. */
export function replayFilter({ status = 'open', ...others }: ReplayFilterDto): ReplayFilter {
  return { status, ...others };
}
