import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startPooler, type Pooler } from '../support/pooler';
import { startServiceProcess } from '../support/service-process';

const MS_MAX = 60_000;
const BATCHES = 40;
const SECRETS_KEY = 'poolers-'.padEnd(40, 'x');

let pooler: Pooler;

afterEach(() => pooler.close());

describe('behind a pooler', () => {
  it(
    'that keeps sessions the service works, though the pooler knows none of its settings',
    async () => {
      const database = await freshDatabaseUrl('pooled');
      pooler = await startPooler(database, { mode: 'session' });
      const service = await startServiceProcess({ DATABASE_URL: pooler.url, SECRETS_KEY });
      try {
        const admin = new Client(service.url, service.adminKey);
        const batches = Array.from({ length: BATCHES }, () => ({ items: [anExternalEvent(), anExternalEvent()] }));
        const sent = batches.map((batch) => admin.post('/v1/external-events:batch', batch));
        const answers = await Promise.all(sent);
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        const [row] = await rowsOf<{ count: number }>(database, 'SELECT count(*)::int AS count FROM events');
        expect(row?.count).toBe(2 * BATCHES);
      } finally {
        expect(await service.stop()).toBe(0);
      }
    },
    MS_MAX,
  );

  it.each([
    ['gives a session to another client after each transaction', {}],
    ['takes everything back after each transaction', { resetsAlways: true as const }],
  ])(
    'that %s it does not start, and says what to do',
    async (_, options) => {
      pooler = await startPooler(await freshDatabaseUrl('pooled'), { mode: 'transaction', ...options });
      const starting = startServiceProcess({ DATABASE_URL: pooler.url, SECRETS_KEY });
      await expect(starting.then((service) => service.stop())).rejects.toThrow(
        /The service cannot start\. DATABASE_URL leads to a pooler that shares sessions.*session pooling.*pool_mode = session/,
      );
    },
    MS_MAX,
  );
});
