/**
 * A person's states behind a campaign ($3), one campaign after the other, until they weigh $5 bytes or are $4; one at least, if there
 * is one. Each is looked up when those before it leave room.
 */
export const READ_STATES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS place, 0::bigint AS bytes, $3::text AS campaign_id, NULL::text AS values, NULL::text AS system,
      NULL::timestamptz AS updated_at
    UNION ALL
    SELECT p.place + 1, p.bytes + octet_length(s.values), s.campaign_id, s.values, s.system, s.updated_at
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, values::text AS values, system::text AS system, updated_at FROM participant_states
      WHERE tenant_id = $1 AND subject = $2 AND campaign_id > p.campaign_id ORDER BY campaign_id LIMIT 1
    ) s
    WHERE p.place < $4 AND p.bytes < $5
  )
  SELECT campaign_id AS "campaignId", values, system, updated_at AS "updatedAt" FROM page WHERE place > 0 ORDER BY place`;

/** The same of the outcomes of their mutations, behind a campaign, a key and a time ($3 to $5). */
export const READ_OUTCOMES_OF_PERSON = `
  WITH RECURSIVE page AS (
    SELECT 0 AS place, 0::bigint AS bytes, $3::text AS campaign_id, $4::text AS mutation_key, $5::timestamptz AS created_at,
      NULL::text AS mutations
    UNION ALL
    SELECT p.place + 1, p.bytes + octet_length(o.mutations), o.campaign_id, o.mutation_key, o.created_at, o.mutations
    FROM page p CROSS JOIN LATERAL (
      SELECT campaign_id, mutation_key, created_at, mutations::text AS mutations FROM mutation_outcomes
      WHERE tenant_id = $1 AND subject = $2
        AND (campaign_id, mutation_key, created_at) > (p.campaign_id, p.mutation_key, p.created_at)
      ORDER BY campaign_id, mutation_key, created_at LIMIT 1
    ) o
    WHERE p.place < $6 AND p.bytes < $7
  )
  SELECT campaign_id AS "campaignId", mutation_key AS key, created_at AS "createdAt", created_at::text AS exactly, mutations
  FROM page WHERE place > 0 ORDER BY place`;
