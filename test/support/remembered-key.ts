import { setTimeout as wait } from 'node:timers/promises';
import { apiKeyHash } from '../../src/api-keys/api-key.repository';
import { Client } from './client';
import { withClient } from './database';
import { until } from './until';

const PATIENCE_MS = 15_000;

/** Waits until a service answers a key out of its memory: until a silent revocation in the database goes unnoticed. */
export async function untilRemembered(url: string, databaseUrl: string, key: string): Promise<void> {
  const statusOf = async (): Promise<number> => (await new Client(url, key).get('/v1/events?limit=1')).status;
  await withClient(databaseUrl, async (database) => {
    const setRevoked = (at: 'now()' | 'NULL') =>
      database.query(`UPDATE api_keys SET revoked_at = ${at} WHERE key_hash = $1`, [apiKeyHash(key)]);
    for (const end = performance.now() + PATIENCE_MS; ;) {
      // Nodes do not hear of the withdrawn revocation, and they remember a refusal for a moment too.
      await until(async () => (await statusOf()) === 200);
      await setRevoked('now()');
      const status = await statusOf();
      await setRevoked('NULL');
      if (status === 200) return;
      if (performance.now() > end) throw new Error(`The key was not remembered within ${PATIENCE_MS} ms`);
      await wait(10);
    }
  });
}
