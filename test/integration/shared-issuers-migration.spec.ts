import { DataSource } from 'typeorm';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { SharedIssuers1764000000013 } from '../../src/platform/postgres/migrations/14-shared-issuers';
import { freshDatabaseUrl, withClient } from '../support/database';
import { until } from '../support/until';

const OWN_KEY = 'jwt_issuers_tenant_issuer_audience_key';

/** A database as the version before it knows it, with an issuer. */
async function databaseBefore(name: string): Promise<string> {
  const url = await freshDatabaseUrl(name);
  const source = await new DataSource(databaseOptions({ url })).initialize();
  const runner = source.createQueryRunner();
  const migration = new SharedIssuers1764000000013();
  await migration.down(runner);
  await runner.query('DELETE FROM migrations WHERE name = $1', [migration.name]);
  await source.destroy();
  await run(url, insertion('first'));
  return url;
}

const run = (url: string, text: string): Promise<any[]> =>
  withClient(url, async (client) => (await client.query(text)).rows);

const insertion = (audience: string): string =>
  `INSERT INTO jwt_issuers (tenant_id, id, issuer, audience, algorithms, jwks_uri, campaign_claim, app_claim,
     clock_tolerance_seconds, origin, created_at, created_by)
   VALUES (gen_random_uuid(), gen_random_uuid(), 'iss', '${audience}', '{RS256}', 'https://x', 'c', 'a', 5, 'api', now(), 'x')`;

const indexesOf = async (url: string): Promise<string[]> =>
  (
    await run(
      url,
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
       WHERE indrelid = 'jwt_issuers'::regclass AND indisvalid ORDER BY 1`,
    )
  ).map(({ definition }) => definition);

const EXPECTED = [
  expect.stringMatching(/^CREATE INDEX jwt_issuers_pair_idx .*\(issuer, audience, created_at\) WHERE/),
  expect.stringMatching(/^CREATE UNIQUE INDEX jwt_issuers_pkey /),
  expect.stringMatching(new RegExp(`^CREATE UNIQUE INDEX ${OWN_KEY} .*\\(tenant_id, issuer, audience\\)$`)),
];

it.each([
  ['from the beginning', ''],
  ['with an index that was left half built', `CREATE UNIQUE INDEX ${OWN_KEY} ON jwt_issuers (tenant_id)`],
  [
    'with its constraint there and nothing else',
    `ALTER TABLE jwt_issuers ADD CONSTRAINT ${OWN_KEY} UNIQUE (tenant_id, issuer, audience)`,
  ],
])('lets several workspaces have a pair, whatever was done of it before: %s', async (_how, before) => {
  const url = await databaseBefore('shared_issuers');
  await expect(run(url, insertion('first'))).rejects.toThrow('jwt_issuers_issuer_audience_key');
  await run(url, before);
  await migrate({ url });
  expect(await indexesOf(url)).toEqual(EXPECTED);
  await run(url, insertion('first'));
});

it('holds nobody up who registers issuers meanwhile', async () => {
  const url = await databaseBefore('shared_issuers_traffic');
  await withClient(url, async (open) => {
    await open.query('BEGIN');
    await open.query(insertion('open'));
    let isDone = false;
    const migrating = migrate({ url }).then(() => (isDone = true));
    await until(async () => {
      const building = `SELECT 1 FROM pg_stat_activity WHERE query LIKE 'CREATE UNIQUE INDEX CONCURRENTLY%'
        AND wait_event_type = 'Lock' AND datname = current_database()`;
      return (await run(url, building)).length > 0;
    });
    await withClient(url, async (other) => {
      await other.query("SET statement_timeout = '1s'");
      await other.query(insertion('meanwhile'));
    });
    expect(isDone).toBe(false);
    await open.query('COMMIT');
    await migrating;
  });
  expect(await indexesOf(url)).toEqual(EXPECTED);
  expect((await run(url, 'SELECT 1 FROM jwt_issuers')).length).toBe(3);
});
