import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { REVIEW_STAGES, type ReviewStage, type ReviewStatus } from '../domain/review-entry';
import type { SingleStatusFilter } from '../domain/review-filter';

const STATUSES = ['open'] as const satisfies ReviewStatus[];

/** Selects open entries: those that match every field; `{}` matches all. */
export class OpenEntriesFilterDto {
  /** Only open entries are selected, with or without this field. */
  @IsOptional()
  @IsIn(STATUSES)
  @ApiProperty({ enum: STATUSES })
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

/** The filter with its default; fields that were not sent stay absent. */
export function openEntriesFilter({ status = 'open', ...others }: OpenEntriesFilterDto): SingleStatusFilter {
  return { status, ...others };
}
