import type { Statement } from '../platform/postgres/statement';

/** Bytes of a record without its identifiers and profiles, and of a profile id with quotes and comma. */
const OTHER_FIELDS_BYTES = 256;
const PROFILE_ID_BYTES = 40;

/**
 * The customer with this root, an SQL expression of a uuid. No row if it is no root or is erased. $1: the workspace.
 */
const customerOfRoot = (rootId: string): string => `
  SELECT r.profile_id AS root_id, m.created_at, m.members, i.identifiers
  FROM profiles r
  CROSS JOIN LATERAL (
    SELECT min(created_at) AS created_at, array_agg(profile_id::text ORDER BY place, created_at, profile_id) AS members
    FROM (
      SELECT r.profile_id, r.created_at, 0 AS place
      UNION ALL
      SELECT profile_id, created_at, 1 FROM profiles
      WHERE tenant_id = $1 AND root_id = r.profile_id AND root_id <> profile_id
    ) each_profile
  ) m
  CROSS JOIN LATERAL (
    SELECT json_agg(json_build_object('kind', i.kind, 'value', i.value) ORDER BY i.value)::text AS identifiers
    FROM unnest(m.members::uuid[]) AS u (profile_id)
    JOIN profile_identifiers i ON i.tenant_id = $1 AND i.profile_id = u.profile_id AND i.kind <> ''
  ) i
  WHERE r.tenant_id = $1 AND r.profile_id = ${rootId} AND r.root_id = r.profile_id AND r.erased_at IS NULL`;

/**
 * The customer that profile $2 belongs to. One statement, so that it sees a concurrent merge or undo completely or not
 * at all.
 */
export const READ_CUSTOMER: Statement = {
  name: 'identity_read_customer',
  text: `
  SELECT c.* FROM profiles p CROSS JOIN LATERAL (${customerOfRoot('p.root_id')}) c
  WHERE p.tenant_id = $1 AND p.profile_id = $2`,
};

/** The customers (root ids) that profiles $2 belong to. */
export const READ_ROOTS: Statement = {
  name: 'identity_read_roots',
  text: `
  SELECT p.profile_id AS "profileId", p.root_id AS "rootId"
  FROM unnest($2::uuid[]) AS u (profile_id)
  CROSS JOIN LATERAL (
    SELECT profile_id, root_id FROM profiles WHERE tenant_id = $1 AND profile_id = u.profile_id LIMIT 1
  ) p`,
};

/**
 * Customers with root ids below $2, highest first: at most $3, and at most $4 bytes, but at least one. The row of the
 * next customer has no fields; it shows that the list continues. The statement reads at most $5 profiles. It always
 * returns the last one that it read: the next page starts after it.
 *
 * Each step looks up one profile by its key, only while there is room, so that the plan does not depend on the
 * statistics.
 */
export const READ_CUSTOMERS = `
  WITH RECURSIVE page AS (
    SELECT 0 AS looked, 0 AS shown, 0::bigint AS bytes, $2::uuid AS id, NULL::uuid AS root_id, NULL::timestamptz AS created_at,
      NULL::text[] AS members, NULL::text AS identifiers, false AS "isNext"
    UNION ALL
    SELECT p.looked + 1, p.shown + (c.root_id IS NOT NULL)::integer,
      p.bytes + coalesce(
        ${OTHER_FIELDS_BYTES} + ${PROFILE_ID_BYTES} * cardinality(c.members) + octet_length(coalesce(c.identifiers, '')), 0
      ),
      s.id, c.root_id, c.created_at, c.members, c.identifiers, s.is_customer AND NOT s.has_room
    FROM page p
    CROSS JOIN LATERAL (
      SELECT profile_id AS id, root_id = profile_id AND erased_at IS NULL AS is_customer, p.shown < $3 AND p.bytes < $4 AS has_room
      FROM profiles
      WHERE tenant_id = $1 AND profile_id < p.id ORDER BY profile_id DESC LIMIT 1
    ) s
    LEFT JOIN LATERAL (${customerOfRoot('s.id')}
      OFFSET 0 -- builds each text once
    ) c ON s.is_customer AND s.has_room
    WHERE NOT p."isNext" AND p.looked < $5
  )
  SELECT id, root_id, created_at, members, identifiers, "isNext", looked FROM page
  WHERE root_id IS NOT NULL OR "isNext" OR looked = $5
  ORDER BY looked`;
