import { historyViolations, type HistoryStep } from '../faults/oracle/history';
import type { Value } from '../faults/oracle/mutations';
import { rowsOf } from './database';

/** The variable and whose it is, in one column; not part of a key of another one, since a subject may contain anything. */
const VARIABLE = `json_build_array(subject, scope, owner_id, name)::text AS variable`;

/** Campaigns that share a variable of an app agree on its default in tests. */
const DEFAULT = `(
  SELECT default_value FROM variables v WHERE v.tenant_id = c.tenant_id AND v.scope = c.scope AND v.name = c.name
    AND (c.scope = 'app' OR v.campaign_id = c.owner_id) LIMIT 1
)`;

/**
 * What is wrong with the history of every stored value of a workspace: for each value the entries form one chain that
 * begins at its default and ends at the stored value (contract section 12).
 */
export async function brokenHistories(databaseUrl: string, tenantId: string): Promise<string[]> {
  const entries = await rowsOf<HistoryStep>(
    databaseUrl,
    `SELECT ${VARIABLE}, previous, current, (date_part('epoch', period_start) * 1000)::float8 AS "periodStart",
       ${DEFAULT} AS initial
     FROM value_changes c WHERE tenant_id = $1 ORDER BY at, position`,
    [tenantId],
  );
  const stored = await rowsOf<{ variable: string; value: Value }>(
    databaseUrl,
    `SELECT ${VARIABLE}, value FROM (
       SELECT subject, 'user' AS scope, campaign_id AS owner_id, name, value
       FROM participant_states CROSS JOIN LATERAL jsonb_each(values) AS each (name, value) WHERE tenant_id = $1
       UNION ALL
       SELECT '', scope, owner_id, name, value FROM shared_values WHERE tenant_id = $1 AND value IS NOT NULL
     ) v`,
    [tenantId],
  );
  return historyViolations(entries, Object.fromEntries(stored.map(({ variable, value }) => [variable, value])));
}
