/**
 * Some entries of a workspace, in the order of their ids, and whether their payloads or notes name somebody: a text between quotation
 * marks, whatever white space is beside them; a text anywhere, in any case; digits, whatever stands between them.
 */
export const FIND_TRACES = String.raw`
  SELECT e.id, e.event_id AS "eventId",
    EXISTS (SELECT 1 FROM unnest($5::text[]) t WHERE strpos(e.tight, '"' || regexp_replace(t, '\s*"\s*', '"', 'g') || '"') > 0)
      OR EXISTS (SELECT 1 FROM unnest($6::text[]) t WHERE strpos(lower(e.words), t) > 0)
      OR EXISTS (SELECT 1 FROM unnest($7::text[]) t WHERE strpos(e.dialled, t) > 0) AS named
  FROM (
    SELECT id, event_id, words,
      regexp_replace(words, '\s*"\s*', '"', 'g') AS tight,
      regexp_replace(words, '[\s()./-]', '', 'g') AS dialled
    FROM review_entries, concat_ws(' ', payload, resolution ->> 'note') AS words
    WHERE tenant_id = $1 AND id > $2 AND (NOT $3 OR payload IS NOT NULL OR resolution ->> 'note' IS NOT NULL)
    ORDER BY id LIMIT $4
  ) e
  ORDER BY e.id`;
