import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ReviewCounts, ReviewGroup } from './domain/review-entry';
import { filterParameters, matchesParameters, type SingleStatusFilter } from './domain/review-filter';

/** The limit for groups of one kind; the largest are returned. */
const GROUPS_MAX = 100;

interface GroupRow extends ReviewGroup {
  /** The value of PostgreSQL's GROUPING: one bit for each column that the row is not grouped by. */
  readonly kind: number;
}

const BY_REASON = 0b011;
const BY_SOURCE = 0b101;
const BY_EVENT_TYPE = 0b110;
const TOTAL = 0b111;

/** Groups of the entries of a workspace ($1) and a status ($2), the largest $3 of each kind; $4 to $7 the filter, null: all. */
export const COUNT_GROUPS = `
  WITH groups AS (
    SELECT GROUPING(reason, source, event_type) AS kind, coalesce(reason, source, event_type) AS name,
      count(*)::integer AS count
    FROM review_entries
    WHERE tenant_id = $1 AND status = $2 AND first_seen_at > '-infinity'
      AND ${matchesParameters(4)}
    GROUP BY GROUPING SETS ((reason), (source), (event_type), ())
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY kind ORDER BY count DESC, name) AS place FROM groups
  )
  SELECT kind, name, count FROM ranked WHERE place <= $3 ORDER BY kind, place`;

/** Counts review entries. */
@Injectable()
export class ReviewSummary {
  constructor(private readonly database: DataSource) {}

  /** Exact counts. Scans the index entries of the status: 0.2 s for a million entries. */
  async count(tenantId: string, filter: SingleStatusFilter): Promise<ReviewCounts> {
    const values = [tenantId, filter.status, GROUPS_MAX, ...filterParameters(filter)];
    const rows: GroupRow[] = await this.database.query(COUNT_GROUPS, values);
    const groupsOf = (grouping: number): ReviewGroup[] =>
      rows.filter(({ kind }) => kind === grouping).map(({ name, count }) => ({ name, count }));
    return {
      total: groupsOf(TOTAL)[0]?.count ?? 0,
      byReason: groupsOf(BY_REASON),
      bySource: groupsOf(BY_SOURCE),
      byEventType: groupsOf(BY_EVENT_TYPE),
    };
  }
}
