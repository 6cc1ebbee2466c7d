/** Everything that a view says of an event besides its identity, properties and reactions. */
const OTHER_FIELDS_BYTES = 512;

/**
 * Events by their ids ($2), in the order of the ids, until they weigh $3 bytes; the first one in any case. Each is looked up by its
 * key when the ones before it leave room, so that a page of large events costs PostgreSQL what it shows, not what it leaves out.
 * A row without an id stands for an event that has gone meanwhile.
 */
export const READ_EVENTS_WITHIN = `
  WITH RECURSIVE page AS (
    SELECT 0 AS place, 0::bigint AS bytes, NULL::uuid AS event_id, NULL::text AS family, NULL::text AS source,
      NULL::text AS external_event_id, NULL::text AS event_type, NULL::integer AS event_type_version,
      NULL::timestamptz AS occurred_at, NULL::timestamptz AS received_at, NULL::uuid AS profile_id, NULL::text AS identity,
      NULL::text AS properties, NULL::bytea AS content_hash, NULL::uuid AS batch_id, NULL::uuid AS queue_bundle_id
    UNION ALL
    SELECT p.place + 1,
      p.bytes + coalesce(${OTHER_FIELDS_BYTES} + octet_length(e.properties) + octet_length(e.identity) + e.reactions_bytes, 0),
      e.event_id, e.family, e.source, e.external_event_id, e.event_type, e.event_type_version, e.occurred_at, e.received_at,
      e.profile_id, e.identity, e.properties, e.content_hash, e.batch_id, e.queue_bundle_id
    FROM page p
    LEFT JOIN LATERAL (
      SELECT event_id, family, source, external_event_id, event_type, event_type_version, occurred_at, received_at, profile_id,
        identity::text AS identity, properties::text AS properties, content_hash, batch_id, queue_bundle_id,
        coalesce((
          SELECT octet_length(reactions::text) FROM event_processing
          WHERE events.queue_bundle_id IS NULL AND tenant_id = $1 AND event_id = events.event_id
        ), 0) AS reactions_bytes
      FROM events
      WHERE tenant_id = $1 AND event_id = ($2::uuid[])[p.place + 1]
      OFFSET 0 -- each text is made once
    ) e ON true
    WHERE p.place < cardinality($2::uuid[]) AND p.bytes < $3
  )
  SELECT event_id AS "eventId", family, source, external_event_id AS "externalEventId", event_type AS "eventType",
    event_type_version AS "eventTypeVersion", occurred_at AS "occurredAt", received_at AS "receivedAt",
    profile_id AS "profileId", identity, properties, content_hash AS "contentHash", batch_id AS "batchId",
    queue_bundle_id AS "queueBundleId"
  FROM page WHERE place > 0 ORDER BY place`;
