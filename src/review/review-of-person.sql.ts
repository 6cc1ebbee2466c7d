/**
 * The next entries of a workspace, in the order of their ids, with what they weigh: no payload is read. `isMeant`: last seen since
 * `$4`.
 */
export const LOOK_AT_ENTRIES = `
  SELECT id, event_id AS "eventId", last_seen_at >= $4 AS "isMeant", coalesce(octet_length(payload), 0) AS bytes,
    payload IS NOT NULL OR resolution ->> 'note' IS NOT NULL AS "hasWords"
  FROM review_entries
  WHERE tenant_id = $1 AND id > $2
  ORDER BY id LIMIT $3`;

/** What was sent and noted: of payloads so many characters (`$4`), from `$3` on. */
export const READ_WORDS = `
  SELECT id, substr(payload, $3, $4) AS payload, resolution ->> 'note' AS note
  FROM review_entries WHERE tenant_id = $1 AND id = ANY($2)
  ORDER BY id`;

/** Erases what was sent and noted, and what was wrong with it where that names one of `$3`, as a field can have any name. */
export const ERASE_ENTRIES = `
  UPDATE review_entries e SET payload = NULL,
    message = CASE WHEN found.names THEN 'What was wrong named a person who was erased.' ELSE e.message END,
    details = CASE WHEN found.names THEN '[]' ELSE e.details END,
    resolution = CASE WHEN found.names THEN e.resolution - 'message' - 'details' ELSE e.resolution END - 'note'
  FROM (
    SELECT id, EXISTS (
      SELECT 1 FROM unnest($3::text[]) AS t WHERE strpos(concat(message, details, resolution - 'note'), t) > 0
    ) AS names
    FROM review_entries WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE
  ) found
  WHERE e.tenant_id = $1 AND e.id = found.id`;
