import type { Statement } from '../platform/postgres/statement';
import { replacing } from '../platform/postgres/one-workspace';
import { allInserted, failIfAny, preconditionOf } from '../platform/postgres/precondition';

/*
 * Every set look-up is a LATERAL with LIMIT 1, so that a generic plan is one index probe for each row, even if it was
 * made while the tables were empty. Statements lock in the order of their arrays. The repository sorts the arrays, so
 * that nodes do not deadlock.
 */

/** The profiles that own these identifiers, each with its root's row, which holds the values of the customer. */
export const READ_IDENTIFIERS: Statement = {
  name: 'identity_read_identifiers',
  text: `
    SELECT u.position, p.profile_id, p.erased_at IS NOT NULL AS erased, r.profile_id AS root_id, r.external_id,
      r.email_count, r.phone_count, r.device_count, r.version, date_part('epoch', r.created_at) * 1000 AS created_ms,
      r.erased_at IS NOT NULL AS root_erased
    FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS u (tenant_id, kind, value, position)
    CROSS JOIN LATERAL (
      SELECT profile_id FROM profile_identifiers
      WHERE tenant_id = u.tenant_id AND kind = u.kind AND value = u.value LIMIT 1
    ) i
    CROSS JOIN LATERAL (
      SELECT * FROM profiles WHERE tenant_id = u.tenant_id AND profile_id = i.profile_id LIMIT 1
    ) p
    CROSS JOIN LATERAL (
      SELECT p.* WHERE p.root_id = p.profile_id
      UNION ALL
      SELECT * FROM profiles WHERE p.root_id <> p.profile_id AND tenant_id = u.tenant_id AND profile_id = p.root_id
      LIMIT 1
    ) r`,
};

/**
 * Locks customers that the batch will change. Those that were merged away or erased meanwhile are missing from the
 * result.
 */
export const LOCK_ROOTS: Statement = {
  name: 'identity_lock_roots',
  text: `
    SELECT r.profile_id, r.version
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, profile_id)
    CROSS JOIN LATERAL (
      SELECT profile_id, version FROM profiles
      WHERE tenant_id = u.tenant_id AND profile_id = u.profile_id AND root_id = profile_id AND erased_at IS NULL
      LIMIT 1 FOR NO KEY UPDATE
    ) r`,
};

/**
 * Inserts new identifiers and returns those that it inserted. If several nodes insert the same one, the first gets it;
 * the others wait for that node's commit and get no row.
 */
export const INSERT_IDENTIFIERS: Statement = {
  name: 'identity_insert_identifiers',
  text: `
    INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
    ON CONFLICT ON CONSTRAINT profile_identifiers_pkey DO NOTHING
    RETURNING profile_id`,
  oneWorkspace: {
    text: `
    INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
    VALUES ($1::uuid, unnest($2::text[]), unnest($3::text[]), unnest($4::uuid[]))
    ON CONFLICT ON CONSTRAINT profile_identifiers_pkey DO NOTHING
    RETURNING profile_id`,
    values: replacing(0),
  },
};

/** Removes identifiers that the same transaction has inserted to keep others from inserting them before it ends. */
export const REMOVE_INSERTED_IDENTIFIERS: Statement = {
  name: 'identity_remove_inserted_identifiers',
  text: `
    DELETE FROM profile_identifiers i USING (
      SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) AS a (tenant_id, kind, value) OFFSET 0
    ) u
    WHERE i.tenant_id = u.tenant_id AND i.kind = u.kind AND i.value = u.value`,
};

/** Identifiers that events name and that are not their customers'. */
export const INSERT_UNLINKED: Statement = {
  name: 'identity_insert_unlinked',
  text: `
    INSERT INTO unlinked_identifiers (tenant_id, kind, value, event_id)
    SELECT u.tenant_id, u.kind, u.value, u.event_id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) AS u (tenant_id, kind, value, event_id)
    ON CONFLICT ON CONSTRAINT unlinked_identifiers_pkey DO NOTHING`,
};

export const FORGET_UNLINKED_OF_EVENTS: Statement = {
  name: 'identity_forget_unlinked_of_events',
  text: `
    DELETE FROM unlinked_identifiers WHERE tenant_id = $1::uuid AND event_id = ANY ($2::uuid[]) AND kind <> ''`,
};

/**
 * Inserts new identifiers along with COMMIT. It fails (platform/postgres/precondition.ts, `isLostRace`) if another
 * transaction has inserted one of them. Without ON CONFLICT the server's log would quote the identifier.
 */
export const INSERT_IDENTIFIERS_AT_COMMIT: Statement = {
  name: 'identity_insert_identifiers_at_commit',
  text: `
    WITH inserted AS (
      INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
      SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
      ON CONFLICT ON CONSTRAINT profile_identifiers_pkey DO NOTHING
      RETURNING 1
    )
    ${allInserted('inserted', 'cardinality($1::uuid[])')}`,
  oneWorkspace: {
    // A part that writes and one that counts would be two statements there; a row that exists divides by zero instead.
    text: `
    INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
    VALUES ($1::uuid, unnest($2::text[]), unnest($3::text[]), unnest($4::uuid[]))
    ON CONFLICT ON CONSTRAINT profile_identifiers_pkey
      DO UPDATE SET kind = CASE WHEN 1 / (EXCLUDED.kind = '')::int = 1 THEN EXCLUDED.kind END`,
    values: replacing(0),
  },
};

/**
 * Locks the profiles that events are stored under, and those whose identifiers they name, so that an erasure waits for
 * this commit. Erased ones are missing.
 */
export const HOLD_PROFILES: Statement = {
  name: 'identity_hold_profiles',
  text: `
    SELECT p.profile_id
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, profile_id)
    CROSS JOIN LATERAL (
      SELECT profile_id FROM profiles
      WHERE tenant_id = u.tenant_id AND profile_id = u.profile_id AND erased_at IS NULL
      LIMIT 1 FOR KEY SHARE
    ) p`,
};

/** HOLD_PROFILES as a precondition: all profiles exist, are not erased, and still belong to the customers $3. */
export const HOLD_KNOWN_PROFILES: Statement = preconditionOf('identity_hold_known_profiles', {
  expected: 'cardinality($1::uuid[])',
  found: `FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS u (tenant_id, profile_id, root_id)
      CROSS JOIN LATERAL (
        SELECT profile_id FROM profiles
        WHERE tenant_id = u.tenant_id AND profile_id = u.profile_id AND root_id = u.root_id AND erased_at IS NULL
        LIMIT 1 FOR KEY SHARE
      ) p`,
});

export const INSERT_PROFILES: Statement = {
  name: 'identity_insert_profiles',
  text: `
    INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count,
      version, created_at)
    SELECT p.tenant_id, p.profile_id, p.root_id, p.external_id, p.email_count, p.phone_count, p.device_count,
      1, p.created_at
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::int[], $6::int[], $7::int[], $8::timestamptz[])
      AS p (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, created_at)`,
};

/** Only for roots that LOCK_ROOTS has locked. The new version tells other nodes that their reading is stale. */
export const UPDATE_ROOTS: Statement = {
  name: 'identity_update_roots',
  text: `
    UPDATE profiles p
    SET external_id = u.external_id, email_count = u.email_count, phone_count = u.phone_count,
      device_count = u.device_count, version = p.version + 1
    FROM json_to_recordset($1::json) AS u (tenant_id uuid, profile_id uuid, external_id text,
      email_count int, phone_count int, device_count int)
    WHERE p.tenant_id = u.tenant_id AND p.profile_id = u.profile_id`,
};

/** Sets the root of every profile of the losing customers, so that no root points to another root. */
export const POINT_AT_ROOT: Statement = {
  name: 'identity_point_at_root',
  text: `
    WITH members AS MATERIALIZED (
      SELECT u.tenant_id, m.profile_id, u.into_id
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS u (tenant_id, loser_id, into_id)
      CROSS JOIN LATERAL (
        SELECT u.loser_id AS profile_id
        UNION ALL
        SELECT profile_id FROM profiles
        WHERE tenant_id = u.tenant_id AND root_id = u.loser_id AND root_id <> profile_id
      ) m
      ORDER BY u.tenant_id, m.profile_id
    )
    UPDATE profiles p SET root_id = m.into_id, version = p.version + 1
    FROM members m
    WHERE p.tenant_id = m.tenant_id AND p.profile_id = m.profile_id`,
};

export const INSERT_MERGES: Statement = {
  name: 'identity_insert_merges',
  text: `
    INSERT INTO profile_merges (tenant_id, id, from_profile_id, into_profile_id, from_evidence_id, into_evidence_id,
      event_id, merged_at)
    SELECT m.tenant_id, m.id, m.from_profile_id, m.into_profile_id, m.from_evidence_id, m.into_evidence_id,
      m.event_id, m.merged_at
    FROM json_to_recordset($1::json) AS m (tenant_id uuid, id uuid, from_profile_id uuid, into_profile_id uuid,
      from_evidence_id uuid, into_evidence_id uuid, event_id uuid, merged_at timestamptz)`,
};

/** Which of these hashes belong to identifiers of erased persons. */
export const FIND_ERASED: Statement = {
  name: 'identity_find_erased',
  text: `
    SELECT u.position
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, hash, position)
    CROSS JOIN LATERAL (
      SELECT 1 FROM erased_identifiers
      WHERE tenant_id = u.tenant_id AND hash = decode(u.hash, 'hex') LIMIT 1
    ) e`,
};

/** Which of the identifiers $2 and $3, with the hashes $4, belong to persons who are erased, or are being erased. */
export const FIND_ERASED_PERSONS: Statement = {
  name: 'identity_find_erased_persons',
  text: `
    SELECT u.position
    FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS u (kind, value, hash, position)
    CROSS JOIN LATERAL (
      SELECT 1 FROM erased_identifiers WHERE tenant_id = $1::uuid AND hash = decode(u.hash, 'hex')
      UNION ALL
      SELECT 1 FROM profile_identifiers i
      CROSS JOIN LATERAL (
        SELECT 1 FROM profiles
        WHERE tenant_id = $1::uuid AND profile_id = i.profile_id AND erased_at IS NOT NULL LIMIT 1
      ) p
      WHERE i.tenant_id = $1::uuid AND i.kind = u.kind AND i.value = u.value
      LIMIT 1
    ) e`,
};

/** Whether anybody was erased in a workspace, or is being erased. */
export const FIND_ANY_ERASURE: Statement = {
  name: 'identity_find_any_erasure',
  text: `SELECT 1 FROM erasures WHERE tenant_id = $1::uuid LIMIT 1`,
};

/** Voids the precondition if one of these hashes belongs to an identifier of an erased person. */
export const FAIL_IF_ERASED = failIfAny(FIND_ERASED);

/** Which of these workspaces have identifiers of erased persons. */
export const FIND_WITH_ERASED: Statement = {
  name: 'identity_find_with_erased',
  text: `
    SELECT u.tenant_id
    FROM unnest($1::uuid[]) AS u (tenant_id)
    CROSS JOIN LATERAL (SELECT 1 FROM erased_identifiers WHERE tenant_id = u.tenant_id LIMIT 1) e`,
};

/** Voids the precondition if one of these workspaces has identifiers of erased persons. */
export const FAIL_IF_ANY_ERASED = failIfAny(FIND_WITH_ERASED);

/**
 * Locks those of the customers that have no EXTERNAL identifier: they get none, and are not merged, before the
 * transaction ends.
 */
export const HOLD_UNLINKED: Statement = {
  name: 'identity_hold_unlinked',
  text: `
    SELECT r.profile_id
    FROM unnest($2::uuid[]) AS u (profile_id)
    CROSS JOIN LATERAL (
      SELECT profile_id FROM profiles
      WHERE tenant_id = $1::uuid AND profile_id = u.profile_id AND root_id = profile_id AND external_id IS NULL
        AND erased_at IS NULL
      LIMIT 1 FOR SHARE
    ) r`,
};

/**
 * The customers that profiles belong to now, locked so that an erasure waits for this commit. For an erased customer
 * only the root is meaningful. `others` are the profiles of the customer without the root. Neither `held` nor `erased`: the
 * root was erased while the statement waited for another lock; an undo may have parted the profile from it before.
 */
export const HOLD_CUSTOMERS: Statement = {
  name: 'identity_hold_customers',
  text: `
    SELECT u.profile_id, p.root_id, p.erased, r.profile_id IS NOT NULL AS held, r.external_id,
      ARRAY(
        SELECT o.profile_id::text FROM profiles o
        WHERE o.tenant_id = $1::uuid AND o.root_id = p.root_id AND o.root_id <> o.profile_id
      ) AS others
    FROM unnest($2::uuid[]) AS u (profile_id)
    CROSS JOIN LATERAL (
      SELECT root_id, erased_at IS NOT NULL AS erased FROM profiles
      WHERE tenant_id = $1::uuid AND profile_id = u.profile_id LIMIT 1
    ) p
    LEFT JOIN LATERAL (
      SELECT profile_id, external_id FROM profiles
      WHERE tenant_id = $1::uuid AND profile_id = p.root_id AND erased_at IS NULL
      LIMIT 1 FOR KEY SHARE
    ) r ON true`,
};
