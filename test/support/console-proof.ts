import { rowsOf } from './database';

/** The sessions of a workspace have not been proven for longer than a proof counts. */
export async function endProofs(databaseUrl: string, tenantId: string): Promise<void> {
  const set = `UPDATE console_sessions SET proven_at = proven_at - interval '6 minutes' WHERE tenant_id = $1`;
  await rowsOf(databaseUrl, set, [tenantId]);
}
