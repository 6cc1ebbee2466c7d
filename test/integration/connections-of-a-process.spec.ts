import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { CONNECTIONS_PER_PROCESS_MAX } from '../../src/platform/postgres/connection-settings';
import { startApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { expireOver } from '../support/retention';
import { aCampaign, inc, mutate } from '../support/runtime';

const OPERATIONS = readFileSync(join(__dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
const DOCUMENTED = new Map(
  [...OPERATIONS.matchAll(/^\| `(cds-[\w-]+)` +\| (\d+) /gm)].map(([, name = '', most]) => [name, Number(most)]),
);

it('a process has no other connections to its database, and no more, than docs/operations.md lists', async () => {
  const url = await freshDatabaseUrl('connections');
  const service = await startApp({}, url, [], { processesEvents: true });
  try {
    const campaign = await aCampaign({ url: service.url, databaseUrl: url });
    const { admin } = campaign.workspace;
    await campaign.define('state.user.points', 'number');
    await admin.post('/v1/external-events', anExternalEvent());
    await admin.post('/v1/external-events', {});
    await mutate(campaign.participant(), [inc('state.user.points')]);
    await campaign.participant().get('/v1/runtime/state');
    await new Client(service.url, undefined).get('/health/ready');
    await expireOver(admin, 30);
    const database = service.app.get(DataSource);
    await Promise.all(Array.from({ length: 20 }, () => database.query('SELECT pg_sleep(0.1)')));
    const sessions = await rowsOf<{ name: string; count: number }>(
      url,
      `SELECT application_name AS name, count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND application_name <> '' GROUP BY 1`,
    );
    const unlisted = sessions.filter(({ name, count }) => count > (DOCUMENTED.get(name) ?? 0));
    expect(unlisted).toEqual([]);
    // Webhooks, processing and jobs as well as requests.
    expect(sessions.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['cds-requests', 'cds-ingest', 'cds-webhooks', 'cds-expiry', 'cds-jobs', 'cds-worker']),
    );
    const sum = [...DOCUMENTED.values()].reduce((all, most) => all + most, 0);
    expect(sum).toBe(CONNECTIONS_PER_PROCESS_MAX);
  } finally {
    await service.stop();
  }
});
