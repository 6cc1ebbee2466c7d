import { REVIEW_STATUSES } from './domain/review-entry';
import { filterParameters, matchesParameters, type ReviewFilter } from './domain/review-filter';

/** A row that a page has looked at. */
export interface LookedAt {
  readonly id: string;
  readonly at: Date;
  readonly fits: boolean;
  /** Whether it is the last row that the page may look at. */
  readonly isLast: boolean;
}

/** The newest first. An alias of a column may not have its name: ORDER BY would take the alias. */
const NEWEST_FIRST = 'ORDER BY first_seen_at DESC, id DESC';
const BEHIND_START = '(first_seen_at, id) < ($2::timestamptz, $3::uuid)';
/** With this condition, which is always true, PostgreSQL uses the partial indexes. */
const IN_INDEXES = `first_seen_at > '-infinity'`;
/** $4 statuses, $5 stage, $6 reason, $7 source, $8 event type; of the last four null matches all. */
const FITS = `status = ANY($4::text[]) AND ${matchesParameters(5)}`;

/** The entries of the first columns of `review_entries_fields_idx`: workspace $1, `statuses`, `reason` (null: all). */
function ofIndex(statuses: string, reason: string): string {
  return `FROM review_entries
    WHERE tenant_id = $1 AND ${IN_INDEXES} AND status = ANY(${statuses}::text[])
      AND (${reason}::text IS NULL OR reason = ${reason})`;
}

/** Whether a workspace ($1) has more than $4 entries of these statuses ($2) and this reason ($3; null: all). */
export const HAS_MORE_ENTRIES = `SELECT count(*) > $4 AS "hasMore" FROM (SELECT ${ofIndex('$2', '$3')} LIMIT $4 + 1) counted`;

/** $9 entries at most that match, behind the key $2, $3. For a filter whose status and reason only few entries have. */
export const READ_OF_FEW = `
  SELECT id, first_seen_at AS at, true AS fits, false AS "isLast"
  FROM (SELECT * ${ofIndex('$4', '$6')} OFFSET 0) few
  WHERE ${BEHIND_START} AND ${FITS}
  ${NEWEST_FIRST} LIMIT $9`;

/** The same out of the first $10 entries behind the key. The last of these is answered in any case. */
export const READ_OF_NEAREST = `
  SELECT * FROM (
    SELECT id, first_seen_at AS at, ${FITS} AS fits, row_number() OVER (${NEWEST_FIRST}) = $10 AS "isLast"
    FROM (
      SELECT * FROM review_entries WHERE tenant_id = $1 AND ${IN_INDEXES} AND ${BEHIND_START}
      ${NEWEST_FIRST} LIMIT $10
    ) nearest
  ) looked_at
  WHERE fits OR "isLast"
  ORDER BY at DESC, id DESC LIMIT $9`;

/** The values of `FITS`. */
export function fitsValues(filter: ReviewFilter): unknown[] {
  return [statusesOf(filter), ...filterParameters(filter)];
}

/** An index that begins with the status is used for all statuses, too, if each is named. */
export function statusesOf({ status }: ReviewFilter): readonly string[] {
  return status === undefined ? REVIEW_STATUSES : [status];
}
