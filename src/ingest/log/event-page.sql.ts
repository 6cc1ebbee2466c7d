import type { Statement } from '../../platform/postgres/statement';
import type { ProcessingState } from '../queue/processing-record';
import type { EventRow } from '../store/entities/event.entity';
import { EVENT_COLUMNS, LISTED } from '../store/event-columns';
import type { TimelineOrder, TimelineRange } from './timeline-range';

/** Everything that a view says of an event besides its identity, properties and reactions. */
const OTHER_FIELDS_BYTES = 512;

/**
 * The columns that a list of events by receipt is filtered by. A further filter is an entry here, and a parameter of the same
 * name in `EventQuery`.
 */
export const FILTERED = [
  'source',
  'externalEventId',
  'eventType',
  'family',
] as const satisfies readonly (keyof EventRow)[];

/** Absent fits all. */
export interface ReceivedFilter extends Partial<Pick<EventRow, (typeof FILTERED)[number]>> {
  readonly state?: ProcessingState;
}

/** The parameters before those of `FILTERED`; `receivedValues` has their values. */
const FIXED_PARAMETERS = 7;

/**
 * Events by receipt: those behind the key $2, $3 in this order, up to the time $4 (desc: that one included), $6 of them at
 * most, with whether they are in the state $5 and have the values of `FILTERED` ($8 and on; null fits all). Answers $7 rows at
 * most.
 *
 * The range is one of `events_received_idx`, read forwards or backwards. Exactly one condition stands at either end
 * (docs/adr/0012), so a page costs the rows that it looks at, wherever the range lies.
 */
export const READ_RECEIVED_EVENTS: Readonly<Record<TimelineOrder, Statement>> = {
  asc: readReceivedEvents('asc'),
  desc: readReceivedEvents('desc'),
};

/** The ORDER BY of a list by this time. */
export function orderedBy(time: string, order: TimelineOrder): string {
  const direction = order === 'desc' ? 'DESC' : 'ASC';
  return `ORDER BY ${time} ${direction}, event_id ${direction}`;
}

/** The condition of a range of such a list: behind the key $2, $3 in this order, up to the time $4. */
export function isWithin(time: string, order: TimelineOrder): string {
  const [behind, ending] = order === 'desc' ? ['<', '>='] : ['>', '<'];
  return `(${time}, event_id) ${behind} ($2::timestamptz, $3::uuid) AND ${time} ${ending} $4::timestamptz
        AND ${time} > '-infinity'`;
}

function nearestByReceipt(order: TimelineOrder, rows: string): string {
  return `
      SELECT * FROM events
      WHERE tenant_id = $1 AND ${isWithin('received_at', order)}
      ${orderedBy('received_at', order)} LIMIT ${rows}`;
}

function readReceivedEvents(order: TimelineOrder): Statement {
  const fitsFilter = FILTERED.map((field, index) => {
    const { name, type } = EVENT_COLUMNS[field];
    const value = `$${FIXED_PARAMETERS + 1 + index}`;
    return `(${value}::${type} IS NULL OR ${name} = ${value})`;
  });
  const text = `
  WITH received AS (
    SELECT event_id, received_at AS at,
      row_number() OVER (${orderedBy('received_at', order)}) AS position,
      ${fitsFilter.join(' AND ')}
        AND ($5::text IS NULL OR coalesce(processing.state, 'queued') = $5) AS fits
    FROM (${nearestByReceipt(order, '$6')}
    ) nearest
    LEFT JOIN LATERAL (
      SELECT state FROM event_processing
      WHERE $5::text IS NOT NULL AND tenant_id = $1 AND event_id = nearest.event_id
      UNION ALL
      SELECT 'processed'
      WHERE $5::text IS NOT NULL AND nearest.queue_bundle_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM queued_bundles WHERE tenant_id = $1 AND id = nearest.queue_bundle_id
      )
      LIMIT 1
    ) processing ON true
  )
  SELECT * FROM received WHERE fits OR position = $6 ${orderedBy('at', order)} LIMIT $7`;
  return { name: `ingest_received_${order}`, text };
}

/** The parameters of `READ_RECEIVED_EVENTS`. `lookedAtMax`: rows that it may look at; `answeredMax`: rows that it may answer. */
export function receivedValues(
  tenantId: string,
  { startAt, startId, end }: TimelineRange,
  filter: ReceivedFilter,
  { lookedAtMax, answeredMax }: { readonly lookedAtMax: number; readonly answeredMax: number },
): unknown[] {
  const filtered = FILTERED.map((field) => filter[field] ?? null);
  return [tenantId, startAt, startId, end, filter.state ?? null, lookedAtMax, answeredMax, ...filtered];
}

/** The columns of a `ListedEvent`. Documents are read as text, which is parsed one by one. */
const COLUMNS = LISTED.map((property) => {
  const { name, type } = EVENT_COLUMNS[property];
  return { property, name, type: type === 'jsonb' ? 'text' : type };
});

/**
 * A page of events out of rows that `lookedAt` finds, a statement with `parameters` parameters: each of its rows, and the events of
 * those that fit, in their order, until there are so many or they weigh so many bytes (the two parameters that follow); the
 * first one in any case. Rows behind that have no event.
 *
 * Each event is looked up by its key when the ones before it leave room, so that a page of large events costs PostgreSQL what it
 * shows, not what it leaves out.
 */
export function withEvents(lookedAt: Statement, parameters: number): Statement {
  const [limit, bytes] = [`$${parameters + 1}::int`, `$${parameters + 2}::bigint`];
  const text = `
  WITH RECURSIVE looked_at AS MATERIALIZED (${lookedAt.text}),
  fitting AS MATERIALIZED (
    SELECT array_agg(event_id ORDER BY position) AS ids
    FROM (SELECT event_id, position FROM looked_at WHERE fits ORDER BY position LIMIT ${limit}) first_ones
  ),
  page AS (
    SELECT 0 AS number, 0::bigint AS bytes, ${COLUMNS.map(({ name, type }) => `NULL::${type} AS ${name}`).join(', ')}
    UNION ALL
    SELECT p.number + 1,
      p.bytes + ${OTHER_FIELDS_BYTES} + octet_length(e.properties) + octet_length(e.identity) + e.reactions_bytes,
      ${COLUMNS.map(({ name }) => `e.${name}`).join(', ')}
    FROM page p
    CROSS JOIN LATERAL (
      SELECT ${COLUMNS.map(({ name, type }) => `${name}::${type} AS ${name}`).join(', ')},
        coalesce((
          SELECT octet_length(reactions::text) FROM event_processing
          WHERE tenant_id = $1 AND event_id = events.event_id
        ), 0) AS reactions_bytes
      FROM events
      WHERE tenant_id = $1 AND event_id = ((SELECT ids FROM fitting))[p.number + 1]
      OFFSET 0 -- each text is made once
    ) e
    WHERE p.bytes < ${bytes}
  )
  SELECT l.event_id AS "id", l.at, l.fits, l.position,
    ${COLUMNS.map(({ property, name }) => `page.${name} AS "${property}"`).join(', ')}
  FROM (SELECT *, count(*) FILTER (WHERE fits) OVER (ORDER BY position) AS number FROM looked_at) l
  LEFT JOIN page ON l.fits AND page.number = l.number
  ORDER BY l.position`;
  return { name: lookedAt.name, text };
}

/** The same with the events. */
export const READ_RECEIVED_PAGE: Readonly<Record<TimelineOrder, Statement>> = {
  asc: withEvents(READ_RECEIVED_EVENTS.asc, FIXED_PARAMETERS + FILTERED.length),
  desc: withEvents(READ_RECEIVED_EVENTS.desc, FIXED_PARAMETERS + FILTERED.length),
};

/** PostgreSQL does not compress a document of so many bytes, unless the rest of its row is large. */
const SMALL_DOCUMENT_BYTES = 2_000;

/** A list of events. */
interface EventRange {
  /** Of the statement that reads it. */
  readonly name: string;
  /** A SELECT of its first rows of `events`: so many as this parameter says. */
  readonly range: (rows: string) => string;
  /** Its ORDER BY. */
  readonly order: string;
  /** How many parameters `range` has. */
  readonly parameters: number;
}

/**
 * A page of events that no filter leaves out: so many rows of a range, the first of two parameters that follow its own. An event
 * of more bytes than the second one has no properties in the answer; such a page is read by `withEvents`.
 *
 * It costs PostgreSQL a third of `withEvents`, because it finds each event once. A compressed document may have any size, so none
 * is decompressed here.
 */
export function withSmallEvents({ name, range, order, parameters }: EventRange): Statement {
  const [rows, bytes] = [`$${parameters + 1}::int`, `$${parameters + 2}::int`];
  const weight = `${OTHER_FIELDS_BYTES} + octet_length(documents.properties) + octet_length(documents.identity) + documents.reactions`;
  const columns = COLUMNS.map(({ property, name: column }) => {
    if (property === 'properties')
      return `CASE WHEN ${weight} <= ${bytes} THEN documents.properties END AS "properties"`;
    return `${property === 'identity' ? 'documents' : 'e'}.${column} AS "${property}"`;
  });
  const text = `
  SELECT ${columns.join(', ')}
  FROM (${range(rows)}) e
  CROSS JOIN LATERAL (
    SELECT e.identity::text AS identity,
      CASE WHEN pg_column_compression(e.properties) IS NULL AND pg_column_size(e.properties) <= ${SMALL_DOCUMENT_BYTES}
        THEN e.properties::text END AS properties,
      coalesce((
        SELECT octet_length(reactions::text) FROM event_processing WHERE tenant_id = $1 AND event_id = e.event_id
      ), 0) AS reactions
    OFFSET 0 -- each text is made once
  ) documents
  ${order}`;
  return { name, text };
}

/** The same page without filters, of small events. Its parameters are the first four of `READ_RECEIVED_EVENTS`. */
export const READ_SMALL_RECEIVED: Readonly<Record<TimelineOrder, Statement>> = {
  asc: readSmallReceived('asc'),
  desc: readSmallReceived('desc'),
};

function readSmallReceived(order: TimelineOrder): Statement {
  const range = (rows: string): string => nearestByReceipt(order, rows);
  return withSmallEvents({
    name: `ingest_received_small_${order}`,
    range,
    order: orderedBy('received_at', order),
    parameters: 4,
  });
}
