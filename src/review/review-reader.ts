import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import type { ReviewStatus } from './domain/review-entry';
import { ReviewEntry } from './entities/review-entry.entity';

export interface ReviewFilter {
  readonly status?: ReviewStatus | undefined;
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly eventType?: string | undefined;
}

/** Finds what is kept in the review area. */
@Injectable()
export class ReviewReader {
  constructor(private readonly database: DataSource) {}

  find(tenantId: string, id: string): Promise<ReviewEntry | null> {
    return this.database.manager.findOneBy(ReviewEntry, { tenantId, id });
  }

  /** One page, newest first, by when the problem was first seen: counting it up moves no entry to another page. */
  async list(
    tenantId: string,
    { status, reason, source, eventType }: ReviewFilter,
    start: TimeKey,
    limit: number,
  ): Promise<{ entries: ReviewEntry[]; nextCursor: string | null }> {
    const query = this.database.manager
      .createQueryBuilder(ReviewEntry, 'entry')
      .where('entry.tenantId = :tenantId', { tenantId })
      // Always so, and the condition of the index.
      .andWhere("entry.firstSeenAt > '-infinity'")
      .andWhere('(entry.firstSeenAt, entry.id) < (:at, :id)', start)
      .orderBy({ 'entry.firstSeenAt': 'DESC', 'entry.id': 'DESC' })
      // One more than the page shows that there is a next one.
      .limit(limit + 1);
    if (status !== undefined) query.andWhere('entry.status = :status', { status });
    if (reason !== undefined) query.andWhere('entry.reason = :reason', { reason });
    if (source !== undefined) query.andWhere('entry.source = :source', { source });
    if (eventType !== undefined) query.andWhere('entry.eventType = :eventType', { eventType });
    const found = await query.getMany();
    const entries = found.slice(0, limit);
    const last = found.length > limit ? entries.at(-1) : undefined;
    return { entries, nextCursor: last === undefined ? null : cursorAfter({ at: last.firstSeenAt, id: last.id }) };
  }
}
