import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { Unmaskable, type Unmask } from '../../platform/auth/unmask.query';
import { PageQuery } from '../../platform/pagination/page.query';
import { REVIEW_STAGES, REVIEW_STATUSES, type ReviewStage, type ReviewStatus } from '../domain/review-entry';

export class ReviewQuery extends PageQuery {
  @IsOptional()
  @IsIn(REVIEW_STATUSES)
  @ApiPropertyOptional({ enum: REVIEW_STATUSES })
  status?: ReviewStatus;

  /** The step of the pipeline where the problem occurred. */
  @IsOptional()
  @IsIn(REVIEW_STAGES)
  @ApiPropertyOptional({ enum: REVIEW_STAGES })
  stage?: ReviewStage;

  @IsOptional()
  @IsString()
  @MaxLength(128)
  @ApiPropertyOptional({ type: 'string' })
  reason?: string;

  @IsOptional()
  @IsString()
  @MaxLength(256)
  @ApiPropertyOptional({ type: 'string' })
  source?: string;

  @IsOptional()
  @IsString()
  @MaxLength(256)
  @ApiPropertyOptional({ type: 'string' })
  eventType?: string;

  @Unmaskable()
  unmask?: Unmask;
}

export class ReviewSummaryQuery {
  /** The status of the entries to count; `open` when absent. */
  @IsOptional()
  @IsIn(REVIEW_STATUSES)
  @ApiPropertyOptional({ enum: REVIEW_STATUSES, default: 'open' })
  status?: ReviewStatus;
}
