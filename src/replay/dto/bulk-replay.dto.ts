import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsIn, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { REVIEW_STATUSES, type ReviewStatus } from '../../review/domain/review-entry';
import { REPLAY_STATES, type ReplayFilter } from '../domain/replay-progress';
import type { ReviewReplay } from '../entities/review-replay.entity';

/** Which refusals are meant: those that every field fits; `{}` means all that are open. */
export class ReplayFilterDto {
  /** `open` when absent. */
  @IsOptional()
  @IsIn(REVIEW_STATUSES)
  @ApiProperty({ enum: REVIEW_STATUSES, enumName: 'ReviewStatus' })
  status?: ReviewStatus;

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

  /** Their events were stored already. */
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
