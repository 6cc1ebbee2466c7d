import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { maskContacts } from '../../../platform/privacy/contact-data';
import { WORK_STATES } from '../../../platform/jobs/work-states';
import { OpenEntriesFilterDto } from '../../dto/open-entries-filter.dto';
import { DISMISSAL_NOTE_CHARACTERS_MAX } from '../../dto/review-entry.dto';
import type { ReviewDismissal } from '../entities/review-dismissal.entity';

/** Selects open entries, refusals and warnings: those that match every field; `{}` matches all. */
export class DismissalFilterDto extends OpenEntriesFilterDto {}

export class BulkDismissalDto {
  @IsDefined()
  @ValidateNested()
  @Type(() => DismissalFilterDto)
  filter!: DismissalFilterDto;

  /** Why they need no action. It is stored with each entry. */
  @IsOptional()
  @IsString()
  @MaxLength(DISMISSAL_NOTE_CHARACTERS_MAX)
  note?: string;
}

export class BulkDismissalStartedDto {
  /** The id for `GET /v1/review-dismissals/{jobId}`, which shows the progress. */
  jobId!: string;
}

/** A bulk dismissal and its progress. */
export class ReviewDismissalDto {
  jobId!: string;

  /** `queued` until the first entries are closed; `failed` if the job gave up. */
  @ApiProperty({ enum: WORK_STATES, enumName: 'ReviewDismissalState' })
  state!: string;

  /** The number of entries that matched when the dismissal started. */
  total!: number;

  /**
   * How many of them it has closed. Those that were closed otherwise, or occurred again meanwhile, are none of them.
   */
  dismissed!: number;

  filter!: DismissalFilterDto;

  /** Contact data in it is masked. */
  note!: string | null;

  createdAt!: Date;

  /** The id of the credential, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  finishedAt!: Date | null;

  static of(dismissal: ReviewDismissal): ReviewDismissalDto {
    const { id: jobId, state, total, dismissed, filter, createdAt, createdBy, finishedAt } = dismissal;
    const note = dismissal.note === null ? null : maskContacts(dismissal.note);
    return { jobId, state, total, dismissed, filter, note, createdAt, createdBy, finishedAt };
  }
}
