import type { Statement } from '../../platform/postgres/statement';
import { EVENT_COLUMNS } from '../store/event-columns';
import type { TimelineOrder } from './timeline-range';

/** Everything that a view says of an event besides its identity, properties and reactions. */
const OTHER_FIELDS_BYTES = 512;

/**
 * Events by receipt: those behind the key $2, $3 in this order, up to the time $11 (desc: that one included), $8 of them at
 * most, with whether they fit source, id, type, family and state ($4 to $7, $10; null fits all). Answers $9 rows at most.
 *
 * The range is one of `events_received_idx`, read forwards or backwards. Exactly one condition stands at either end
 * (docs/adr/0012), so a page costs the rows that it looks at, wherever the range lies.
 */
export const READ_RECEIVED_EVENTS: Readonly<Record<TimelineOrder, string>> = {
  asc: readReceivedEvents('asc'),
  desc: readReceivedEvents('desc'),
};

function readReceivedEvents(order: TimelineOrder): string {
  const [behind, ending, direction] = order === 'desc' ? ['<', '>=', 'DESC'] : ['>', '<', 'ASC'];
  return `
  WITH looked_at AS (
    SELECT event_id, received_at AS at,
      row_number() OVER (ORDER BY received_at ${direction}, event_id ${direction}) AS position,
      ($4::text IS NULL OR source = $4) AND ($5::text IS NULL OR external_event_id = $5)
        AND ($6::text IS NULL OR event_type = $6) AND ($7::text IS NULL OR family = $7)
        AND ($10::text IS NULL OR coalesce(processing.state, 'queued') = $10) AS fits
    FROM (
      SELECT * FROM events
      WHERE tenant_id = $1 AND (received_at, event_id) ${behind} ($2::timestamptz, $3::uuid)
        AND received_at ${ending} $11::timestamptz AND received_at > '-infinity'
      ORDER BY received_at ${direction}, event_id ${direction} LIMIT $8
    ) nearest
    LEFT JOIN LATERAL (
      SELECT state FROM event_processing
      WHERE $10::text IS NOT NULL AND tenant_id = $1 AND event_id = nearest.event_id
      UNION ALL
      SELECT 'processed'
      WHERE $10::text IS NOT NULL AND nearest.queue_bundle_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM queued_bundles WHERE tenant_id = $1 AND id = nearest.queue_bundle_id
      )
      LIMIT 1
    ) processing ON true
  )
  SELECT * FROM looked_at WHERE fits OR position = $8 ORDER BY at ${direction}, event_id ${direction} LIMIT $9`;
}

/** All columns but the workspace's. Documents are read as text, which is parsed one by one. */
const COLUMNS = Object.entries(EVENT_COLUMNS)
  .filter(([property]) => property !== 'tenantId')
  .map(([property, { name, type }]) => ({ property, name, type: type === 'jsonb' ? 'text' : type }));

/**
 * Events by their ids ($2), in the order of the ids, until they weigh $3 bytes; the first one in any case. Each is looked up by its
 * key when the ones before it leave room, so that a page of large events costs PostgreSQL what it shows, not what it leaves out.
 * A row without an id stands for an event that has gone meanwhile.
 */
export const READ_EVENTS_WITHIN: Statement = {
  name: 'ingest_events_within',
  text: `
  WITH RECURSIVE page AS (
    SELECT 0 AS number, 0::bigint AS bytes, ${COLUMNS.map(({ name, type }) => `NULL::${type} AS ${name}`).join(', ')}
    UNION ALL
    SELECT p.number + 1,
      p.bytes + coalesce(${OTHER_FIELDS_BYTES} + octet_length(e.properties) + octet_length(e.identity) + e.reactions_bytes, 0),
      ${COLUMNS.map(({ name }) => `e.${name}`).join(', ')}
    FROM page p
    LEFT JOIN LATERAL (
      SELECT ${COLUMNS.map(({ name, type }) => `${name}::${type} AS ${name}`).join(', ')},
        coalesce((
          SELECT octet_length(reactions::text) FROM event_processing
          WHERE tenant_id = $1 AND event_id = events.event_id
        ), 0) AS reactions_bytes
      FROM events
      WHERE tenant_id = $1 AND event_id = ($2::uuid[])[p.number + 1]
      OFFSET 0 -- each text is made once
    ) e ON true
    WHERE p.number < cardinality($2::uuid[]) AND p.bytes < $3
  )
  SELECT ${COLUMNS.map(({ property, name }) => `${name} AS "${property}"`).join(', ')}
  FROM page WHERE number > 0 ORDER BY number`,
};
