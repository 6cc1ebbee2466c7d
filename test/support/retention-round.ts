import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { eventIdOf } from '../../src/ingest/domain/deduplication';
import { anExternalEvent } from './builders';
import { Client } from './client';
import { bytesOf, rowsOf, serversOf } from './database';
import { untilDrained } from './processing';
import { startServiceProcess } from './service-process';
import { until } from './until';

const KEY = 'event-retention-admin-key-event-retention-admin';
const SOURCE = 'history';
const EVENTS_PER_CUSTOMER = 10;
const ROWS_PER_INSERT = 100_000;
const SENDERS = 4;
const ITEMS_PER_BATCH = 50;
const LOOK_AGAIN_MS = 50;
const REST_SECONDS_MAX = 6_000;

export interface RoundOptions {
  readonly url: string;
  /** Stored at the beginning; nine tenths of them are old. */
  readonly events: number;
  /** How long the removal is on or off in turns, while it is compared how many events are accepted. */
  readonly periodMs: number;
  /** How many such periods, each with a kill at its end or not. */
  readonly periods: number;
  readonly kills: number;
}

/** What a round has measured. */
export interface RoundReport {
  readonly expired: number;
  /** Answers to repeated events, by what they were; `duplicate` only with the id of the original. */
  readonly repeats: Readonly<Record<string, number>>;
  /** Events accepted per second while the removal was on, in comparison with the periods before and after it. */
  readonly rates: readonly { readonly off: number; readonly on: number }[];
  readonly longestTransactionMs: number;
  readonly longestLockWaitMs: number;
  /** Of tables and indexes. */
  readonly bytesPerExpired: number;
  /** Of the counts of customers, with 10 events each. */
  readonly countBytesPerExpired: number;
  /** How much larger the table of events has become by new events in place of a tenth of the old ones. */
  readonly growth: number;
  readonly left: number;
}

/**
 * Fills a database with old events, and lets them expire while new events and repeated ones arrive and the process is killed.
 */
export async function retentionRound({ url, events, periodMs, periods, kills }: RoundOptions): Promise<RoundReport> {
  const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: KEY, SECRETS_KEY: KEY, LOG_LEVEL: 'warn' };
  let service = await startServiceProcess(environment);
  const client = (): Client => new Client(service.url, KEY);
  const tenantId = await fill(url, client(), events);
  const load = new Load(client, tenantId, events * 0.9);
  const locks = watchLocks(url);
  const keep = (eventDays: number | null) => put(client, eventDays);
  const rates: { off: number; on: number }[] = [];
  load.start();
  let before = await load.rate(periodMs);
  while (rates.length < periods && (await isAnyOld(url, tenantId))) {
    await keep(30);
    const on = await load.rate(periodMs);
    if (rates.length < kills) {
      await service.kill();
      service = await startServiceProcess(environment);
    }
    await keep(null);
    const after = await load.rate(periodMs);
    rates.push({ off: (before + after) / 2, on });
    before = after;
  }
  // The rest of millions takes an hour beside the load.
  process.stdout.write(`${JSON.stringify({ rates })}\n`);
  await keep(30);
  await until(async () => !(await isAnyOld(url, tenantId)), REST_SECONDS_MAX);
  await load.stop();
  const [longestTransactionMs, longestLockWaitMs] = await locks.stop();
  const report = { ...(await bytesOfExpired(url, tenantId)), growth: await growthOf(url, client(), events) };
  const left = (await rowsOf(url, 'SELECT 1 FROM events WHERE tenant_id = $1 AND source = $2', [tenantId, SOURCE]))
    .length;
  await service.stop();
  return { ...report, repeats: load.repeats, rates, longestTransactionMs, longestLockWaitMs, left };
}

const historic = (number: number): Record<string, unknown> =>
  anExternalEvent({
    source: SOURCE,
    external_event_id: `event-${number}`,
    identity: { type: 'EXTERNAL', value: 'somebody' },
    attributes: { amount: 29.33, currency: 'EUR', page: '/checkout/payment', items: ['a-1', 'b-2', 'c-3'] },
  });

/** Stores events by copying one that the service has stored, with the ids that it would give them. */
async function fill(url: string, client: Client, events: number): Promise<string> {
  const { status } = await client.post('/v1/external-events', historic(0));
  if (status !== 202) throw new Error(`Unforeseen answer ${status}`);
  const [workspace] = await rowsOf<{ tenant_id: string }>(url, 'SELECT tenant_id FROM workspaces');
  const tenantId = workspace?.tenant_id ?? '';
  await untilDrained(url, tenantId);
  for (let from = 1; from < events; from += ROWS_PER_INSERT) {
    await rowsOf(url, COPY_EVENT, [tenantId, from, Math.min(from + ROWS_PER_INSERT, events) - 1, events]);
  }
  await rowsOf(
    url,
    `UPDATE events SET received_at = now() - interval '100 days'
     WHERE tenant_id = $1 AND external_event_id = 'event-0'`,
    [tenantId],
  );
  await rowsOf(url, 'VACUUM ANALYZE events');
  return tenantId;
}

/** $1: the workspace; events number $2 to $3 of $4. Nine tenths were received more than 30 days ago. */
const COPY_EVENT = `
  WITH named AS (
    SELECT n, 'event-' || n AS name, encode(sha256(convert_to(
      '36:' || $1::text || '7:${SOURCE}' || length('event-' || n) || ':event-' || n, 'UTF8')), 'hex') AS h
    FROM generate_series($2::int, $3::int) AS n
  )
  INSERT INTO events
  SELECT copy.* FROM named, events e, json_populate_record(e, json_build_object(
    'event_id', substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-8' || substr(h, 14, 3) || '-'
      || substr('89ab', (('x' || substr(h, 17, 1))::bit(4)::int & 3) + 1, 1) || substr(h, 18, 3) || '-' || substr(h, 21, 12),
    'external_event_id', name,
    'profile_id', md5((('x' || substr(h, 25, 8))::bit(32)::bigint % ($4::int / ${EVENTS_PER_CUSTOMER}))::text)::uuid,
    'received_at', now() - CASE WHEN n < $4::int * 0.9 THEN interval '100 days' ELSE interval '5 days' END
      + n * interval '1 millisecond'
  )) AS copy
  WHERE e.tenant_id = $1::uuid AND e.external_event_id = 'event-0'`;

interface ItemResult {
  readonly status: string;
  readonly error_code?: string;
  readonly original_event_id?: string;
}

/** New events and repeated ones, by several senders that wait for their answers. */
class Load {
  readonly repeats: Record<string, number> = {};
  private accepted = 0;
  private isOver = false;
  private senders: Promise<void>[] = [];

  constructor(
    private readonly client: () => Client,
    private readonly tenantId: string,
    private readonly old: number,
  ) {}

  start(): void {
    this.senders = Array.from({ length: SENDERS }, (_unused, sender) => this.send(sender));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.senders);
  }

  /** Events accepted per second from now on. */
  async rate(ms: number): Promise<number> {
    const [began, accepted] = [performance.now(), this.accepted];
    await wait(ms);
    return ((this.accepted - accepted) * 1_000) / (performance.now() - began);
  }

  private async send(sender: number): Promise<void> {
    for (let turn = sender; !this.isOver; turn += 1) {
      // Every fourth batch repeats old events.
      const numbers = Array.from({ length: ITEMS_PER_BATCH }, () => Math.floor(Math.random() * this.old));
      const isRepeat = turn % 4 === 0;
      const items = numbers.map((number) =>
        isRepeat
          ? historic(number)
          : anExternalEvent({ identity: { type: 'EXTERNAL', value: `new-${number % 5_000}` } }),
      );
      const answer = await this.client()
        .post('/v1/external-events:batch', { items })
        .catch(() => undefined);
      if (answer?.status !== 200) await wait(LOOK_AGAIN_MS);
      else if (isRepeat) this.countRepeats(numbers, answer.body.results);
      else this.countAccepted(answer.body.results);
    }
  }

  private countAccepted(results: readonly ItemResult[]): void {
    this.accepted += results.filter(({ status }) => status === 'accepted').length;
  }

  private countRepeats(numbers: readonly number[], results: readonly ItemResult[]): void {
    results.forEach(({ status, error_code: code, original_event_id: original }, index) => {
      const expected = eventIdOf(this.tenantId, SOURCE, `event-${numbers[index]}`);
      const what = status === 'duplicate' && original !== expected ? 'duplicate of another' : (code ?? status);
      this.repeats[what] = (this.repeats[what] ?? 0) + 1;
    });
  }
}

async function put(client: () => Client, eventDays: number | null): Promise<void> {
  await until(async () => {
    const answer = await client()
      .send('/v1/retention', JSON.stringify({ eventDays }), { method: 'PUT' })
      .catch(() => undefined);
    return answer?.status === 200;
  });
}

async function isAnyOld(url: string, tenantId: string): Promise<boolean> {
  const rows = await rowsOf(
    url,
    `SELECT 1 FROM events WHERE tenant_id = $1 AND received_at > '-infinity'
       AND received_at < now() - interval '30 days' LIMIT 1`,
    [tenantId],
  );
  return rows.length > 0;
}

/** The longest transaction of the removal, and the longest time that anybody waited for a lock on a server; both in milliseconds. */
function watchLocks(url: string): { readonly stop: () => Promise<readonly [number, number]> } {
  const stopping = new AbortController();
  let [transaction, waited] = [0, 0];
  const look = async (server: string): Promise<void> => {
    const [row] = await rowsOf<{ transaction: number; waited: number }>(
      server,
      `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 * 1000 AS transaction,
         (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float8 * 1000
          FROM pg_locks WHERE NOT granted) AS waited
       FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cds-expiry'
         AND xact_start IS NOT NULL`,
    );
    transaction = Math.max(transaction, row?.transaction ?? 0);
    waited = Math.max(waited, row?.waited ?? 0);
  };
  const watching = (async () => {
    const servers = await serversOf(url);
    while (!stopping.signal.aborted) {
      await Promise.all(servers.map(look));
      await wait(LOOK_AGAIN_MS);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await watching;
      return [transaction, waited];
    },
  };
}

async function bytesOfExpired(
  url: string,
  tenantId: string,
): Promise<Pick<RoundReport, 'expired' | 'bytesPerExpired' | 'countBytesPerExpired'>> {
  const [row] = await rowsOf<{ expired: number; counted: number }>(
    url,
    `SELECT (SELECT count(event_id) + count(other_event_id) FROM expired_events WHERE tenant_id = $1)::int AS expired,
       (SELECT sum(events) FROM expired_event_counts WHERE tenant_id = $1)::int AS counted`,
    [tenantId],
  );
  if (row === undefined || row.counted !== row.expired) throw new Error(`Not all are counted: ${JSON.stringify(row)}`);
  const { expired } = row;
  const bytesPer = async (table: string): Promise<number> => (await bytesOf(url, table, 'with indexes')) / expired;
  return {
    expired,
    bytesPerExpired: await bytesPer('expired_events'),
    countBytesPerExpired: await bytesPer('expired_event_counts'),
  };
}

async function growthOf(url: string, client: Client, events: number): Promise<number> {
  await rowsOf(url, 'VACUUM events');
  const size = (): Promise<number> => bytesOf(url, 'events', 'rows only');
  const before = await size();
  for (let sent = 0; sent < events / 10; sent += 500) {
    const items = Array.from({ length: 500 }, () =>
      anExternalEvent({ identity: { type: 'EXTERNAL', value: `later-${randomUUID().slice(0, 3)}` } }),
    );
    const { status } = await client.post('/v1/external-events:batch', { items });
    if (status !== 200) throw new Error(`Unforeseen answer ${status}`);
  }
  return (await size()) / before - 1;
}
