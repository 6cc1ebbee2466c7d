import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { REVIEW_STATUSES, type ReviewStatus } from '../domain/review-entry';

export class ReviewSummaryQuery {
  /** Which entries are counted; the open ones when absent. */
  @IsOptional()
  @IsIn(REVIEW_STATUSES)
  @ApiPropertyOptional({ enum: REVIEW_STATUSES, default: 'open' })
  status?: ReviewStatus;
}
