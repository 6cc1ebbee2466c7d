import { historyViolations, type HistoryStep } from '../faults/oracle/history';
import type { Value } from '../faults/oracle/mutations';
import { rowsOf } from './database';

/** The variable and whose it is, in one column; not part of a key of another one, since a subject may contain anything. */
const VARIABLE = `json_build_array(subject, scope, owner_id, name)::text AS variable`;

/**
 * What is wrong with the history of every stored value of a workspace: for each value the entries form one chain that
 * ends at the stored value (contract section 12).
 */
export async function brokenHistories(databaseUrl: string, tenantId: string): Promise<string[]> {
  const entries = await rowsOf<HistoryStep>(
    databaseUrl,
    `SELECT ${VARIABLE}, previous, current, (date_part('epoch', period_start) * 1000)::float8 AS "periodStart"
     FROM value_changes WHERE tenant_id = $1 ORDER BY at, position`,
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
