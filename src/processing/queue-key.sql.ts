import type { Statement } from '../platform/postgres/statement';
import { textOfTime } from '../platform/postgres/time-text';

/** The time of an entry of the queue, with the microseconds by which entries are ordered. */
export const TEXT_OF_QUEUED_AT = `${textOfTime('queued_at')} AS queued_at`;

/** The same by immutable functions, which a distributed database takes in RETURNING; numbers of seconds have six decimals. */
export const IMMUTABLE_TEXT_OF_QUEUED_AT = [
  ...['year', 'month', 'day', 'hour', 'minute', 'second'].map(
    (part) =>
      `lpad(extract(${part} FROM p.queued_at AT TIME ZONE 'UTC')::text, ${{ year: 4, second: 9 }[part] ?? 2}, '0')`,
  ),
  `'Z'`,
].reduce((text, part, index) => `${text} || '${['', '-', '-', 'T', ':', ':', ''][index]}' || ${part}`);

/**
 * The first entry of a table of each of the profiles $2 that has one there, in the order of the queue. One index probe in a
 * workspace without entries.
 */
export function firstOfProfiles(name: string, table: 'parked_events' | 'waiting_events'): Statement {
  const text = `
    SELECT u.profile_id, first.queued_at, first.position
    FROM unnest($2::uuid[]) AS u (profile_id)
    CROSS JOIN LATERAL (
      SELECT ${TEXT_OF_QUEUED_AT}, position FROM ${table} e
      WHERE tenant_id = $1::uuid AND profile_id = u.profile_id
      ORDER BY e.queued_at, e.position, e.event_id LIMIT 1
    ) first
    WHERE (
      SELECT true FROM ${table} WHERE tenant_id = $1::uuid AND queued_at > '-infinity' ORDER BY queued_at LIMIT 1
    )`;
  return { name, text };
}
