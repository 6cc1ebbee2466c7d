import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, ValidateNested } from 'class-validator';
import { OpenEntriesFilterDto } from '../../review/dto/open-entries-filter.dto';
import { WORK_STATES } from '../../platform/jobs/work-states';
import type { ReviewReplay } from '../entities/review-replay.entity';

/** Selects open refusals: those that match every field; `{}` matches all. */
export class ReplayFilterDto extends OpenEntriesFilterDto {}

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
  @ApiProperty({ enum: WORK_STATES, enumName: 'ReviewReplayState' })
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

  /** The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
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
