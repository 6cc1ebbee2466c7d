import { newId } from '../platform/values/ids';
import { timestampsOfMicros } from '../platform/values/timestamp';
import { replacing } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import type { SharedScope } from '../variables/domain/variable';
import type { StateChanges, StoredOutcome } from './domain/apply-mutations';
import type { OutcomeKey, ParticipantKey, SharedKey } from './domain/state-keys';
import { PeriodValue } from './domain/state-tree';

/*
 * Rows are locked before outcomes are read, and always in one order (docs/adr/0018): a statement processes its arrays
 * in their order, and the caller sorts them. So two nodes never deadlock. Every look-up is a LATERAL with LIMIT 1: one
 * index probe per row, whatever size the planner assumes for a table.
 *
 * The parameters of a statement come from the function behind it, or, where it has keys only, from the next two
 * functions.
 */

type Columns = readonly unknown[][];

export function participantParameters(keys: readonly ParticipantKey[]): Columns {
  return [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ subject }) => subject),
    keys.map(({ campaignId }) => campaignId),
  ];
}

export function sharedParameters(keys: readonly SharedKey[]): Columns {
  return [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ scope }) => scope),
    keys.map(({ ownerId }) => ownerId),
    keys.map(({ name }) => name),
  ];
}

/** Inserts the rows that are missing, so that there is a row to lock. Returns those. */
export const ENSURE_PARTICIPANTS: Statement = {
  name: 'runtime_ensure_participants',
  text: `
    INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
    SELECT u.tenant_id, u.subject, u.campaign_id, '{}', '{}', now(), u.id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) AS u (tenant_id, subject, campaign_id, id)
    ON CONFLICT ON CONSTRAINT participant_states_pkey DO NOTHING
    RETURNING tenant_id AS "tenantId", subject, campaign_id AS "campaignId"`,
};

/** Removes rows that this transaction has inserted. */
export const REMOVE_PARTICIPANTS: Statement = {
  name: 'runtime_remove_participants',
  text: `
    WITH gone AS MATERIALIZED (
      SELECT u.* FROM unnest($1::uuid[], $2::text[], $3::text[]) AS u (tenant_id, subject, campaign_id)
    )
    DELETE FROM participant_states p USING gone g
    WHERE p.tenant_id = g.tenant_id AND p.subject = g.subject AND p.campaign_id = g.campaign_id`,
};

export function ensureParticipantsParameters(keys: readonly ParticipantKey[]): Columns {
  return [...participantParameters(keys), keys.map(() => newId())];
}

export const ENSURE_SHARED_VALUES: Statement = {
  name: 'runtime_ensure_shared_values',
  text: `
    INSERT INTO shared_values (tenant_id, scope, owner_id, name, updated_at)
    SELECT u.tenant_id, u.scope, u.owner_id, u.name, now()
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS u (tenant_id, scope, owner_id, name)
    ON CONFLICT ON CONSTRAINT shared_values_pkey DO NOTHING`,
};

/**
 * Epoch seconds of the database's clock when a row is locked; and of its change, which is later than its last one, also if the
 * clock is set.
 */
const LOCK_SECONDS = `date_part('epoch', clock_timestamp()) AS clock_seconds,
      date_part('epoch', greatest(clock_timestamp(), updated_at + interval '1 microsecond')) AS change_seconds`;

/** Locks participants: other transactions that change one of them, on any node, wait for this commit. */
export const LOCK_PARTICIPANTS: Statement = {
  name: 'runtime_lock_participants',
  text: `
    SELECT u.position, p.values, p.periods, p.system, ${LOCK_SECONDS}
    FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS u (tenant_id, subject, campaign_id, position)
    CROSS JOIN LATERAL (
      SELECT values, periods, system, updated_at FROM participant_states
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id LIMIT 1 FOR NO KEY UPDATE
    ) p`,
};

/** The same without reading their values; with the size of these, where they are not compressed. */
export const LOCK_PARTICIPANT_ROWS: Statement = {
  name: 'runtime_lock_participant_rows',
  text: `
    SELECT u.position, p.bytes
    FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY AS u (tenant_id, subject, campaign_id, position)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN pg_column_compression(values) IS NULL THEN pg_column_size(values) END AS bytes
      FROM participant_states
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id LIMIT 1 FOR NO KEY UPDATE
    ) p`,
};

export const LOCK_SHARED_VALUES: Statement = {
  name: 'runtime_lock_shared_values',
  text: `
    SELECT u.position, v.value, date_part('epoch', v.period_start) * 1000 AS period_start,
      ${LOCK_SECONDS}
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[])
      WITH ORDINALITY AS u (tenant_id, scope, owner_id, name, position)
    CROSS JOIN LATERAL (
      SELECT value, period_start, updated_at FROM shared_values
      WHERE tenant_id = u.tenant_id AND scope = u.scope AND owner_id = u.owner_id AND name = u.name
      LIMIT 1 FOR NO KEY UPDATE
    ) v`,
};

/**
 * The stored outcomes of mutation ids. Sent after the locks: earlier transactions with these ids have committed by
 * then. Only outcomes after $5 count. $6 is now by the outcome clock, in which nodes may differ by days for a minute.
 * No outcome is a week ahead of it; this bound keeps PostgreSQL from looking into the partitions of later weeks.
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

export function findOutcomesParameters(
  keys: readonly OutcomeKey[],
  { oldest, now }: { readonly oldest: Date; readonly now: Date },
): readonly unknown[] {
  return [...participantParameters(keys), keys.map(({ mutationKey }) => mutationKey), oldest, now];
}

/** Only for rows that are locked. */
export const UPDATE_PARTICIPANTS: Statement = {
  name: 'runtime_update_participants',
  text: `
    UPDATE participant_states p
    SET values = u.values, system = u.system, periods = u.periods, updated_at = u.at
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::jsonb[], $5::jsonb[], $6::jsonb[], $7::timestamptz[])
      AS u (tenant_id, subject, campaign_id, values, system, periods, at)
    WHERE p.tenant_id = u.tenant_id AND p.subject = u.subject AND p.campaign_id = u.campaign_id`,
};

export function updateParticipantsParameters(participants: StateChanges['participants']): readonly unknown[] {
  return [
    ...participantParameters(participants.map(({ key }) => key)),
    participants.map(({ document }) => JSON.stringify(document.values)),
    participants.map(({ document: { system } }) =>
      JSON.stringify(system.sessionId === null ? {} : { sessionId: system.sessionId }),
    ),
    participants.map(({ document: { periods } }) => (periods === null ? null : JSON.stringify(periods))),
    timestampsOfMicros(participants.map(({ atMicros }) => atMicros)),
  ];
}

/** Only for rows that are locked. */
export const UPDATE_SHARED_VALUES: Statement = {
  name: 'runtime_update_shared_values',
  text: `
    UPDATE shared_values v
    SET value = u.value, period_start = u.period_start, updated_at = u.at
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[], $7::timestamptz[])
      AS u (tenant_id, scope, owner_id, name, value, period_start, at)
    WHERE v.tenant_id = u.tenant_id AND v.scope = u.scope AND v.owner_id = u.owner_id AND v.name = u.name`,
};

export function updateSharedValuesParameters(shared: StateChanges['shared']): readonly unknown[] {
  return [
    ...sharedParameters(shared.map(({ key }) => key)),
    shared.map(({ value }) => JSON.stringify(value instanceof PeriodValue ? value.value : value)),
    shared.map(({ value }) => (value instanceof PeriodValue ? value.periodStart : null)),
    timestampsOfMicros(shared.map(({ atMicros }) => atMicros)),
  ];
}

/** The versions of campaigns' declarations. Sent after the locks: a later definition waits for this transaction. */
export const READ_CAMPAIGN_VERSIONS: Statement = {
  name: 'runtime_read_campaign_versions',
  text: `
    SELECT u.position, c.version
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, campaign_id, position)
    CROSS JOIN LATERAL (
      SELECT version FROM campaigns WHERE tenant_id = u.tenant_id AND campaign_id = u.campaign_id LIMIT 1
    ) c`,
};

/** While the participant is locked, no other transaction inserts the same id; a conflict is impossible. */
export const INSERT_OUTCOMES: Statement = {
  name: 'runtime_insert_outcomes',
  text: `
    INSERT INTO mutation_outcomes (tenant_id, subject, campaign_id, mutation_key, created_at, fingerprint, mutations, work_id)
    SELECT u.tenant_id, u.subject, u.campaign_id, u.mutation_key, $8::timestamptz, decode(u.fingerprint, 'base64'), u.mutations, u.work_id
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::json[], $7::uuid[])
      AS u (tenant_id, subject, campaign_id, mutation_key, fingerprint, mutations, work_id)`,
  // No function may stand around a set of values.
  oneWorkspace: {
    text: `
    INSERT INTO mutation_outcomes (tenant_id, subject, campaign_id, mutation_key, created_at, fingerprint, mutations, work_id)
    VALUES ($1::uuid, unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), $8::timestamptz, unnest($5::bytea[]),
      unnest($6::json[]), unnest($7::uuid[]))`,
    values: (values, tenantId) => {
      const scalars = [...replacing(0)(values, tenantId)];
      scalars[4] = (values[4] as readonly string[]).map((fingerprint) => Buffer.from(fingerprint, 'base64'));
      return scalars;
    },
  },
};

export function insertOutcomesParameters(outcomes: readonly StoredOutcome[], now: Date): readonly unknown[] {
  return [
    ...participantParameters(outcomes.map(({ key }) => key)),
    outcomes.map(({ key }) => key.mutationKey),
    outcomes.map(({ fingerprint }) => fingerprint),
    outcomes.map(({ mutations }) => JSON.stringify(mutations)),
    outcomes.map(({ workId }) => workId),
    now,
  ];
}

/** Null unless a value belongs to a period. */
const PERIODS_BY_NAME = `json_object_agg(name, date_part('epoch', period_start) * 1000)
        FILTER (WHERE period_start IS NOT NULL)`;

/** Of the declared names only: an app has the values of all its campaigns, and those of variables that are archived. */
const declaredValues = (scope: SharedScope, owner: string, names: string): string => `
      SELECT json_object_agg(name, value) AS values, ${PERIODS_BY_NAME} AS periods
      FROM json_array_elements_text(${names}::json) AS d (declared)
      CROSS JOIN LATERAL (
        SELECT name, value, period_start FROM shared_values
        WHERE tenant_id = u.tenant_id AND scope = '${scope}' AND owner_id = ${owner} AND name = d.declared
          AND value IS NOT NULL LIMIT 1
      ) s`;

/**
 * The values that each participant can see in one campaign and one app, from one snapshot, in the order of the
 * parameters. $5 and $6: the names that the campaign declares of each, as JSON lists.
 */
export const READ_STATES: Statement = {
  name: 'runtime_read_states',
  text: `
    SELECT p.values AS user_values, p.periods AS user_periods, p.system,
      c.values AS campaign_values, c.periods AS campaign_periods, a.values AS app_values, a.periods AS app_periods,
      date_part('epoch', clock_timestamp()) * 1000 AS at
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY
      AS u (tenant_id, subject, campaign_id, app_id, campaign_names, app_names, position)
    LEFT JOIN LATERAL (
      SELECT values, periods, system FROM participant_states
      WHERE tenant_id = u.tenant_id AND subject = u.subject AND campaign_id = u.campaign_id LIMIT 1
    ) p ON true
    CROSS JOIN LATERAL (${declaredValues('campaign', 'u.campaign_id', 'u.campaign_names')}
    ) c
    CROSS JOIN LATERAL (${declaredValues('app', 'u.app_id', 'u.app_names')}
    ) a
    ORDER BY u.position`,
};
