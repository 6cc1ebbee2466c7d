import type { Statement } from '../platform/postgres/pipelined-connection';

/*
 * Documents before outcomes, and everything in one order (docs/adr/0018): each statement goes through its arrays as they
 * come, the repository sorts them, and so two nodes never wait for each other in a circle. Every look-up is a LATERAL with
 * LIMIT 1: one index probe a row, whatever the planner believes of the size of a table.
 */

/** Makes sure that there are rows to lock; those that are there stay as they are. */
export const ENSURE_PARTICIPANTS: Statement = {
  name: 'runtime_ensure_participants',
  text: `
    INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
    SELECT u.tenant_id, u.subject, u.campaign_id, '{}', '{}', now(), u.id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) AS u (tenant_id, subject, campaign_id, id)
    ON CONFLICT ON CONSTRAINT participant_states_pkey DO NOTHING`,
};

export const ENSURE_SHARED_VALUES: Statement = {
  name: 'runtime_ensure_shared_values',
  text: `
    INSERT INTO shared_values (tenant_id, scope, owner_id, name, updated_at)
    SELECT u.tenant_id, u.scope, u.owner_id, u.name, now()
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS u (tenant_id, scope, owner_id, name)
    ON CONFLICT ON CONSTRAINT shared_values_pkey DO NOTHING`,
};

/** Locks participants: of all who change one, here or on another node, one goes on and the others wait for its commit. */
export const LOCK_PARTICIPANTS: Statement = {
  name: 'runtime_lock_participants',
  text: `
    SELECT u.position, p.values, p.system
    FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS u (tenant_id, subject, campaign_id, position)
    CROSS JOIN LATERAL (
      SELECT values, system FROM participant_states
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id LIMIT 1 FOR NO KEY UPDATE
    ) p`,
};

export const LOCK_SHARED_VALUES: Statement = {
  name: 'runtime_lock_shared_values',
  text: `
    SELECT u.position, v.value
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
      WITH ORDINALITY AS u (tenant_id, scope, owner_id, name, position)
    CROSS JOIN LATERAL (
      SELECT value FROM shared_values
      WHERE tenant_id = u.tenant_id AND scope = u.scope AND owner_id = u.owner_id AND name = u.name
      LIMIT 1 FOR NO KEY UPDATE
    ) v`,
};

/**
 * What these mutation ids have done already. Sent behind the locks: whoever did it has committed by then. Outcomes from $5 on are
 * known. None is a week ahead of $6, which is now by the clock of outcomes: nodes may differ in it by days, for a minute. That
 * spares a look into each further week that was made ahead.
 */
export const FIND_OUTCOMES: Statement = {
  name: 'runtime_find_outcomes',
  text: `
    SELECT u.position, encode(o.fingerprint, 'base64') AS fingerprint, o.mutations, o.work_id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
      WITH ORDINALITY AS u (tenant_id, subject, campaign_id, mutation_key, position)
    CROSS JOIN LATERAL (
      SELECT fingerprint, mutations, work_id FROM mutation_outcomes
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id
        AND mutation_key = u.mutation_key AND created_at > $5::timestamptz
        AND created_at < greatest($6::timestamptz, now()) + interval '1 week' LIMIT 1
    ) o`,
};

/** Only for rows that are locked. */
export const UPDATE_PARTICIPANTS: Statement = {
  name: 'runtime_update_participants',
  text: `
    UPDATE participant_states p SET values = u.values, system = u.system, updated_at = now()
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::jsonb[])
      AS u (tenant_id, subject, campaign_id, values, system)
    WHERE p.tenant_id = u.tenant_id AND p.subject = u.subject AND p.campaign_id = u.campaign_id`,
};

/** Only for rows that are locked. */
export const UPDATE_SHARED_VALUES: Statement = {
  name: 'runtime_update_shared_values',
  text: `
    UPDATE shared_values v SET value = u.value, updated_at = now()
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::jsonb[]) AS u (tenant_id, scope, owner_id, name, value)
    WHERE v.tenant_id = u.tenant_id AND v.scope = u.scope AND v.owner_id = u.owner_id AND v.name = u.name`,
};

/** Behind the participant's lock no two transactions insert the same id, so that nothing can be in the way. */
export const INSERT_OUTCOMES: Statement = {
  name: 'runtime_insert_outcomes',
  text: `
    INSERT INTO mutation_outcomes (tenant_id, subject, campaign_id, mutation_key, created_at, fingerprint, mutations, work_id)
    SELECT u.tenant_id, u.subject, u.campaign_id, u.mutation_key, $8::timestamptz, decode(u.fingerprint, 'base64'), u.mutations, u.work_id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::json[], $7::uuid[])
      AS u (tenant_id, subject, campaign_id, mutation_key, fingerprint, mutations, work_id)`,
};

/** Everything that each of these participants can see of one campaign and one app, as of one moment, in their order. */
export const READ_STATES: Statement = {
  name: 'runtime_read_states',
  text: `
    SELECT p.values AS user_values, p.system, c.values AS campaign_values, a.values AS app_values
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS u (tenant_id, subject, campaign_id, app_id, position)
    LEFT JOIN LATERAL (
      SELECT values, system FROM participant_states
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id LIMIT 1
    ) p ON true
    CROSS JOIN LATERAL (
      SELECT json_object_agg(name, value) AS values FROM shared_values
      WHERE tenant_id = u.tenant_id AND scope = 'campaign' AND owner_id = u.campaign_id AND value IS NOT NULL
    ) c
    CROSS JOIN LATERAL (
      SELECT json_object_agg(name, value) AS values FROM shared_values
      WHERE tenant_id = u.tenant_id AND scope = 'app' AND owner_id = u.app_id AND value IS NOT NULL
    ) a
    ORDER BY u.position`,
};
