import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { Unmaskable, type Unmask } from '../../platform/auth/unmask.query';
import { QueryText } from '../../platform/http/query-text.decorator';
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

  @QueryText(128)
  reason?: string;

  @QueryText(256)
  source?: string;

  @QueryText(256)
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

  /** The step of the pipeline where the problem occurred. */
  @IsOptional()
  @IsIn(REVIEW_STAGES)
  @ApiPropertyOptional({ enum: REVIEW_STAGES })
  stage?: ReviewStage;

  @QueryText(128)
  reason?: string;

  @QueryText(256)
  source?: string;

  @QueryText(256)
  eventType?: string;
}
