import { ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { Unmaskable, type Unmask } from '../../platform/auth/unmask.query';
import { QueryText } from '../../platform/http/query-text.decorator';
import { PageQuery } from '../../platform/pagination/page.query';
import { REVIEW_STAGES, REVIEW_STATUSES, type ReviewStage, type ReviewStatus } from '../domain/review-entry';

/** Not exported, so its fields are described in their decorators: comments count in exported classes alone. */
class ReviewFilterQuery {
  @IsOptional()
  @IsIn(REVIEW_STATUSES)
  @ApiPropertyOptional({ enum: REVIEW_STATUSES })
  status?: ReviewStatus;

  @IsOptional()
  @IsIn(REVIEW_STAGES)
  @ApiPropertyOptional({ enum: REVIEW_STAGES, description: 'The step of the pipeline where the problem occurred.' })
  stage?: ReviewStage;

  @QueryText(128)
  reason?: string;

  @QueryText(256)
  source?: string;

  @QueryText(256)
  eventType?: string;
}

export class ReviewQuery extends IntersectionType(PageQuery, ReviewFilterQuery) {
  @Unmaskable()
  unmask?: Unmask;
}

export class ReviewSummaryQuery extends ReviewFilterQuery {
  /** The status of the entries to count; `open` when absent. */
  @ApiPropertyOptional({ enum: REVIEW_STATUSES, default: 'open' })
  override status?: ReviewStatus;
}
