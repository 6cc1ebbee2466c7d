import type { Statement } from '../../platform/postgres/statement';
import { isWithin, orderedBy, withEvents, withSmallEvents } from './event-page.sql';
import type { TimelineOrder } from './timeline-range';

/** The parameters before those that name the profiles. */
const FIXED_PARAMETERS = 8;

/**
 * One page of a customer's timeline: the tenant, the key it begins behind, the time it ends at, source, type, the rows that may
 * be looked at, the rows of a page, then the profiles.
 *
 * Each profile is a range of `events_timeline_idx` that comes in order; the ranges of a customer of several profiles are merged
 * as they are read (Merge Append). Nothing is sorted, and no row is read that the page does not look at, so a page costs the
 * same wherever it lies. The row that is the last one to be looked at comes in any case: the next page begins behind it.
 */
export function readTimeline(order: TimelineOrder, profiles: number): Statement {
  const columns = 'event_id, occurred_at, source, event_type';
  const ordered = orderedBy('occurred_at', order);
  const text = `
    SELECT event_id, occurred_at AS at, fits, position FROM (
      SELECT event_id, occurred_at, row_number() OVER (${ordered}) AS position,
        ($5::text IS NULL OR source = $5) AND ($6::text IS NULL OR event_type = $6) AS fits
      FROM (${nearest(order, profiles, { columns, firstProfile: FIXED_PARAMETERS + 1, rows: '$7' })}) nearest
    ) looked_at
    WHERE fits OR position = $7
    ${ordered} LIMIT $8`;
  return { name: `ingest_timeline_${order}_${profiles}`, text };
}

/** The first `rows` events behind the key $2, $3 in this order, up to the time $4; the profiles are parameters from `firstProfile` on. */
function nearest(
  order: TimelineOrder,
  profiles: number,
  { columns, firstProfile, rows }: { readonly columns: string; readonly firstProfile: number; readonly rows: string },
): string {
  const ordered = orderedBy('occurred_at', order);
  const ranges = Array.from(
    { length: profiles },
    (_unused, index) => `
      (SELECT ${columns} FROM events
      WHERE tenant_id = $1 AND profile_id = $${firstProfile + index} AND ${isWithin('occurred_at', order)}
      ${ordered} LIMIT ${rows})`,
  );
  return `SELECT * FROM (${ranges.join(' UNION ALL ')}) ranges ${ordered} LIMIT ${rows}`;
}

/** The parameters of a page without filters before those that name the profiles. */
const UNFILTERED_PARAMETERS = 4;

function readSmallEvents(order: TimelineOrder, profiles: number): Statement {
  const parameters = UNFILTERED_PARAMETERS + profiles;
  const range = (rows: string): string =>
    nearest(order, profiles, { columns: '*', firstProfile: UNFILTERED_PARAMETERS + 1, rows });
  return withSmallEvents({
    name: `ingest_timeline_small_${order}_${profiles}`,
    range,
    order: orderedBy('occurred_at', order),
    parameters,
  });
}

/** Customers with more profiles are rare, and each number of profiles is a statement that connections would remember. */
export const KEPT_PROFILES_MAX = 8;
const kept = new Map<string, TimelinePageStatements>();

/** What reads a page. */
interface TimelinePageStatements {
  readonly statement: Statement;
  /** What reads it where no event is filtered out and all are small. */
  readonly ofSmall: Statement;
}

/** `isPlannedAnew`: connections should not keep their plans. */
export function readTimelinePage(
  order: TimelineOrder,
  profiles: number,
): TimelinePageStatements & { readonly isPlannedAnew: boolean } {
  const key = `${order}_${profiles}`;
  const isPlannedAnew = profiles > KEPT_PROFILES_MAX;
  const statements = kept.get(key) ?? {
    statement: withEvents(readTimeline(order, profiles), FIXED_PARAMETERS + profiles),
    ofSmall: readSmallEvents(order, profiles),
  };
  if (!isPlannedAnew) kept.set(key, statements);
  return { ...statements, isPlannedAnew };
}

/**
 * How many events each customer has and had, and when the first and the last of them occurred: $2 holds the profiles of each, as
 * JSON lists in a list. Goes on from one customer to the next until $3 events are counted; the first one is counted in any case.
 */
export const READ_EXTENTS = `
  WITH RECURSIVE page AS (
    SELECT 0 AS number, 0::bigint AS counted, NULL::timestamptz AS first_at, NULL::timestamptz AS last_at, 0::bigint AS events,
      0::bigint AS expired
    UNION ALL
    SELECT p.number + 1, p.counted + c.events, c.first_at, c.last_at, c.events, c.expired
    FROM page p
    CROSS JOIN LATERAL (
      SELECT min(e.first_at) AS first_at, max(e.last_at) AS last_at, coalesce(sum(e.events), 0)::bigint AS events,
        coalesce(sum(x.events), 0)::bigint AS expired
      FROM jsonb_array_elements_text($2::jsonb -> p.number) AS u (profile_id)
      CROSS JOIN LATERAL (
        SELECT min(occurred_at) AS first_at, max(occurred_at) AS last_at, count(*) AS events FROM events
        WHERE tenant_id = $1 AND profile_id = u.profile_id::uuid AND occurred_at > '-infinity'
      ) e
      LEFT JOIN LATERAL (
        SELECT events FROM expired_event_counts WHERE tenant_id = $1 AND profile_id = u.profile_id::uuid
      ) x ON true
    ) c
    WHERE p.number < jsonb_array_length($2::jsonb) AND p.counted < $3
  )
  SELECT first_at, last_at, events, expired FROM page WHERE number > 0 ORDER BY number`;
