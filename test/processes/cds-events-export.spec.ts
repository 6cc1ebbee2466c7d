import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { startCds, type Ran, type RunningCds } from '../support/cds';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';
import { expireAll, keepDays, untilExpired } from '../support/retention';
import { until } from '../support/until';

const FIVE_DAYS_SECONDS = 5 * 24 * 60 * 60;
const START = Date.parse('2026-01-01T00:00:00.000Z');

let service: SharedApp;
let workspace: Workspace;
let folder: string;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  folder = await mkdtemp(join(tmpdir(), 'cds-export-'));
});
afterEach(() => rm(folder, { recursive: true }));

function start(args: readonly string[], client: Client = workspace.admin, nodeOptions = ''): RunningCds {
  const environment = { CDS_API_KEY: client.key ?? '', CDS_URL: client.url, NODE_OPTIONS: nodeOptions };
  return startCds(environment, ['events', 'export', '--json', ...args]);
}

const exported = (...how: Parameters<typeof start>): Promise<Ran> => start(...how).ended;

/** Events of the past, one in each millisecond from `START` on; `note` of so many characters. */
async function received(count: number, noteCharacters = 1): Promise<void> {
  await rowsOf(
    service.databaseUrl,
    `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
       profile_id, identity, properties, content_hash, batch_id)
     SELECT $1, gen_random_uuid(), 'external', 'shop', n::text, 'purchase', now(), $2::timestamptz + n * interval '1 ms', $3,
       '{}', jsonb_build_object('amount', n, 'note', repeat('x', $5)), '\\x00', gen_random_uuid()
     FROM generate_series(0, $4::int - 1) n`,
    [workspace.tenantId, new Date(START), randomUUID(), count, noteCharacters],
  );
}

const timeAfter = (ms: number): string => new Date(START + ms).toISOString();

/** Of whole milliseconds: every event until now, after waiting for the second that an export keeps from the present. */
async function untilComplete(receivedAt: string): Promise<void> {
  await until(async () => (await workspace.admin.get('/v1/events?order=asc&limit=1')).body.completeBefore > receivedAt);
}

async function linesIn(path: string): Promise<any[]> {
  const text = await readFile(path, 'utf8');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
}

async function parquetRowsIn(path: string): Promise<any[]> {
  return parquetReadObjects({ file: await asyncBufferFromFile(path) });
}

/** The rows of all files, in the order of their names. */
async function parquetRows(): Promise<any[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.parquet')).sort();
  return (await Promise.all(names.map((name) => parquetRowsIn(join(folder, name))))).flat();
}

/** Numbers and texts that lose something on the way through careless programs. */
const EXOTIC = {
  amount: 0.1,
  most: 9007199254740992,
  tiny: 5e-324,
  half: 4503599627370495.5,
  negative: -0.000001,
  text: 'Žluťoučký 😀\u2028 "quoted" \\ \t\n\u{10FFFF} اَلْعَرَبِيَّةُ',
  '': 'no name',
  __proto__name: { deep: [[], {}, null, true, 'x'.repeat(5_000)] },
};

async function aFewOfBothFamilies(): Promise<any[]> {
  await registerTypes(workspace.admin);
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const cdp = { eventType: 'anything', properties: EXOTIC, identity: { email: 'jane@example.com' } };
  for (const [path, event] of [
    ['/v1/external-events', anExternalEvent({ identity, attributes: EXOTIC })],
    ['/v1/cdp/events', aCdpEvent(cdp)],
    ['/v1/cdp/events', aCdpEvent({ properties: { amount: 1.5, nickname: 'Zaphod' } })],
  ] as const) {
    const { body } = await workspace.admin.post(path, event);
    expect([body.status, body.details]).toEqual(['accepted', undefined]);
  }
  const items = (await workspace.admin.get('/v1/events')).body.items.toReversed();
  await untilComplete(items.at(-1).receivedAt);
  return items;
}

describe('cds events export', () => {
  it('writes NDJSON as the list shows it, in the order of receipt, masked, and leaves nothing else behind', async () => {
    const items = await aFewOfBothFamilies();
    const file = join(folder, 'events.ndjson');
    const { code, out, said } = await exported(['--output', file]);
    expect([code, said]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({
      output: file,
      format: 'ndjson',
      complete: true,
      rows: 3,
      runs: 1,
      from: null,
    });
    expect(await linesIn(file)).toEqual(items);
    expect(await readFile(file, 'utf8')).not.toMatch(/jane@example|Zaphod/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['events.ndjson']);
    const piped = await exported([]);
    expect([piped.code, JSON.parse(piped.said).rows]).toEqual([0, 3]);
    expect(piped.out.split('\n').map((line) => JSON.parse(line))).toEqual(items);
  });

  it('writes Parquet with typed columns that another program reads', async () => {
    const items = await aFewOfBothFamilies();
    const { code, out } = await exported(['--output', join(folder, 'events.parquet'), '--format', 'parquet']);
    expect([code, JSON.parse(out).rows]).toEqual([0, 3]);
    expect(await readdir(folder)).toEqual(['events-00001.parquet']);
    const path = join(folder, 'events-00001.parquet');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const rows = items.map((item) => ({
      event_id: item.eventId,
      family: item.family,
      source: item.source,
      external_event_id: item.externalEventId,
      event_type: item.eventType,
      event_type_version: item.eventTypeVersion,
      occurred_at: new Date(item.occurredAt),
      received_at: new Date(item.receivedAt),
      profile_id: item.profileId,
      identity: JSON.stringify(item.identity),
      properties: JSON.stringify(item.properties),
    }));
    expect(await parquetRowsIn(path)).toEqual(rows);
    expect(rows.map((row) => row.event_type_version)).toEqual([null, 1, 1]);
    const { schema, num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    expect(num_rows).toBe(3n);
    expect(schema.slice(1).map(({ name, logical_type, type }) => [name, logical_type?.type ?? type])).toEqual([
      ...['event_id', 'family', 'source', 'external_event_id', 'event_type'].map((name) => [name, 'STRING']),
      ['event_type_version', 'INT32'],
      ...['occurred_at', 'received_at'].map((name) => [name, 'TIMESTAMP']),
      ...['profile_id', 'identity', 'properties'].map((name) => [name, 'STRING']),
    ]);
  });

  it('shows what was sent, to the last digit, to a key that may see it, and says what another one lacks', async () => {
    await aFewOfBothFamilies();
    const unmasking = await workspace.client({ scopes: ['events:read', 'pii:read'] });
    const { out } = await exported(['--unmask'], unmasking);
    const [external, cdp, purchase] = out.split('\n').map((line) => JSON.parse(line));
    expect([external.properties, cdp.properties]).toEqual([EXOTIC, EXOTIC]);
    expect([external.identity, purchase.properties.nickname]).toEqual([
      { type: 'EMAIL', value: 'jane@example.com' },
      'Zaphod',
    ]);
    const shown = await rowsOf<{ what: string }>(
      service.databaseUrl,
      'SELECT what FROM unmask_audit WHERE tenant_id = $1',
      [workspace.tenantId],
    );
    expect(shown.map(({ what }) => what)).toEqual([expect.stringContaining(external.eventId)]);

    const file = join(folder, 'none.ndjson');
    const masked = await workspace.client({ scopes: ['events:read'] });
    const poor = await workspace.client({ scopes: ['state:read'] });
    for (const [client, args, scope] of [
      [masked, ['--unmask'], 'pii:read'],
      [poor, [], 'events:read'],
    ] as const) {
      const refused = await exported(['--output', file, ...args], client);
      expect([refused.code, refused.said]).toEqual([1, expect.stringContaining(`needs the scope events:read`)]);
      expect(refused.said).toContain(scope);
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it('takes --from as part of the range and --to not, so that ranges that follow one another hold each event once', async () => {
    await received(10);
    const amounts = async (from: number, to: number) => {
      const { out } = await exported(['--from', timeAfter(from), '--to', timeAfter(to)]);
      return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line).properties.amount);
    };
    expect(await amounts(0, 4)).toEqual([0, 1, 2, 3]);
    expect(await amounts(4, 100)).toEqual([4, 5, 6, 7, 8, 9]);
    const empty = await exported([
      ...['--from', '2025-01-01', '--to', '2025-02-01', '--format', 'parquet', '--output', join(folder, 'none')],
    ]);
    expect(JSON.parse(empty.out)).toMatchObject({ rows: 0, from: '2025-01-01T00:00:00.000Z', complete: true });
    expect(await parquetRowsIn(join(folder, 'none-00001.parquet'))).toEqual([]);
  });

  it('has exactly the accepted events while others come in, over ranges that follow one another', async () => {
    const accepted: string[] = [];
    let isOver = false;
    const send = async () => {
      while (!isOver) {
        const items = Array.from({ length: 5 }, () => anExternalEvent());
        const { body } = await workspace.admin.post('/v1/external-events:batch', { items });
        accepted.push(
          ...body.results.flatMap((result: any) => (result.status === 'accepted' ? [result.event_id] : [])),
        );
        // Some come in during each page, which needs no more than this.
        await wait(10);
      }
    };
    const senders = Promise.all([send(), send(), send()]);
    const ids: string[] = [];
    let from: string[] = [];
    const next = async () => {
      const { out, said, code } = await exported(from);
      expect(code).toBe(0);
      const { to, rows } = JSON.parse(said);
      const found = out === '' ? [] : out.split('\n').map((line) => JSON.parse(line).eventId);
      expect(found).toHaveLength(rows);
      ids.push(...found);
      from = ['--from', to];
    };
    for (let round = 0; round < 3; round += 1) await next();
    isOver = true;
    await senders;
    const [newest] = (await workspace.admin.get('/v1/events?limit=1')).body.items;
    await untilComplete(newest.receivedAt);
    await next();
    expect(accepted.length).toBeGreaterThan(100);
    expect(ids.toSorted()).toEqual(accepted.toSorted());
  });

  it.each(['ndjson', 'parquet'] as const)(
    'holds each event once after any number of kills, wherever they come (%s)',
    async (format) => {
      const count = 4_000;
      await received(count, 200);
      const args = ['--output', join(folder, 'events'), '--format', format, '--rows-per-file', '1000'];
      let kills = 0;
      for (;;) {
        const run = start(args);
        const states = [
          join(folder, 'events.part'),
          join(folder, 'events.state.json'),
          join(folder, 'events-00001.parquet.part'),
        ];
        await until(() => run.child.exitCode !== null || states.some(existsSync));
        await wait(Math.random() * 200);
        if (kills < 3) run.child.kill('SIGKILL');
        const { code, out, said } = await run.ended;
        if (code === null) kills += 1;
        else {
          expect([code, code === 0 ? '' : said]).toEqual([0, '']);
          expect(JSON.parse(out)).toMatchObject({ rows: count, complete: true });
          break;
        }
      }
      expect(kills).toBeGreaterThan(0);
      const numbers =
        format === 'ndjson'
          ? (await linesIn(join(folder, 'events'))).map(({ properties }) => properties.amount)
          : (await parquetRows()).map(({ properties }) => JSON.parse(properties).amount);
      expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index));
      expect(await readdir(folder)).toHaveLength(format === 'ndjson' ? 1 : 4);
    },
  );

  it('goes on after a kill when events have expired meanwhile: what it wrote stays, what is left comes once', async () => {
    const [count, old] = [12_000, 8_000];
    await received(count, 200);
    // Processed with their bundles, which are gone; those behind the first 8,000 are young enough to stay.
    await rowsOf(
      service.databaseUrl,
      `UPDATE events SET queue_bundle_id = $3, received_at = CASE
         WHEN external_event_id::int < $2 THEN received_at
         ELSE to_timestamp($4::bigint + external_event_id::int / 1000.0) END
       WHERE tenant_id = $1`,
      [workspace.tenantId, old, randomUUID(), Math.floor(Date.now() / 1_000) - FIVE_DAYS_SECONDS],
    );
    const args = ['--output', join(folder, 'events')];
    const run = start(args);
    await until(() => run.child.exitCode !== null || existsSync(join(folder, 'events.state.json')));
    run.child.kill('SIGKILL');
    expect((await run.ended).code).toBeNull();
    await keepDays(service.app, workspace.tenantId, 30);
    await expireAll(service.app);
    await untilExpired(service.databaseUrl, workspace.tenantId);
    const { code, out, said } = await exported(args);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    const numbers = (await linesIn(join(folder, 'events'))).map(({ properties }) => properties.amount);
    expect(JSON.parse(out)).toMatchObject({ rows: numbers.length, complete: true });
    const written = numbers.filter((number) => number < old).length;
    const young = Array.from({ length: count - old }, (_, index) => old + index);
    expect(numbers).toEqual([...Array.from({ length: written }, (_, index) => index), ...young]);
  });

  it.each([
    [30, 'ndjson', 48],
    [50, 'parquet', 72],
  ] as const)(
    'writes %i MB as %s with a heap of %i MB, of which the program itself takes 28',
    async (megabytes, format, heapMb) => {
      const rows = megabytes * 250;
      await received(rows, 4_000);
      const args = ['--output', join(folder, 'large'), '--format', format];
      const { code, out, said } = await exported(args, workspace.admin, `--max-old-space-size=${heapMb}`);
      expect(code === 0 ? '' : said).toBe('');
      expect(JSON.parse(out).rows).toBe(rows);
    },
  );

  it('shows every page of the list once: the same ids as the API', async () => {
    await received(450);
    const { out } = await exported([]);
    const ids = out.split('\n').map((line) => JSON.parse(line).eventId);
    const listed = (await pagesOf(workspace.admin, '/v1/events?limit=200')).flat();
    expect(ids).toEqual(listed.map(({ eventId }) => eventId).toReversed());
  });
});
