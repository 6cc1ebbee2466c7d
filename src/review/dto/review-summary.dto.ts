import { ApiProperty } from '@nestjs/swagger';
import { REVIEW_STATUSES, type ReviewCounts, type ReviewStatus } from '../domain/review-entry';

export class ReviewReasonCountDto {
  reason!: string;

  count!: number;
}

export class ReviewSourceCountDto {
  /** Null for entries whose source is not known. */
  source!: string | null;

  count!: number;
}

export class ReviewEventTypeCountDto {
  /** Null for entries whose event type is not known. */
  eventType!: string | null;

  count!: number;
}

/** The number of entries of one status; of each kind of group the 100 largest, largest first. */
export class ReviewSummaryDto {
  @ApiProperty({ enum: REVIEW_STATUSES, enumName: 'ReviewStatus' })
  status!: string;

  total!: number;

  byReason!: ReviewReasonCountDto[];

  bySource!: ReviewSourceCountDto[];

  byEventType!: ReviewEventTypeCountDto[];

  static of(status: ReviewStatus, { total, byReason, bySource, byEventType }: ReviewCounts): ReviewSummaryDto {
    return {
      status,
      total,
      byReason: byReason.map(({ name, count }) => ({ reason: name ?? '', count })),
      bySource: bySource.map(({ name, count }) => ({ source: name, count })),
      byEventType: byEventType.map(({ name, count }) => ({ eventType: name, count })),
    };
  }
}
