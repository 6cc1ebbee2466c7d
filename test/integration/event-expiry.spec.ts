import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { Client } from 'pg';
import type { Identifier } from '../../src/identity/domain/identifier';
import { eventIdOf } from '../../src/ingest/domain/deduplication';
import type { EventFields, ResolvedEvent } from '../../src/ingest/domain/event';
import type { Submission } from '../../src/ingest/domain/submission';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { insertParameters } from '../../src/ingest/store/event-columns';
import { INSERT_EVENTS } from '../../src/ingest/store/event.sql';
import { RetentionJob } from '../../src/retention/retention-job';
import { RetentionRepository } from '../../src/retention/retention.repository';
import { RetentionService } from '../../src/retention/retention.service';
import { freshDatabaseUrl, rowsOf, untilBlocked, withClient } from '../support/database';
import { aCaller, aSubmission, device, external, startNode } from '../support/ingest';
import { CONCERNED, prepareEffects, recordEffects, startWorker } from '../support/processing';
import { expireAll, keepDays, letDaysPass } from '../support/retention';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const SECRETS_KEY = 'a-secrets-key-for-tests-of-40-characters';

let url: string;
/** Two nodes whose events stay in the queue; the first one removes old events. */
let node: INestApplicationContext;
let other: INestApplicationContext;

beforeAll(async () => {
  url = await freshDatabaseUrl('event_expiry');
  node = await startNode(url, { SECRETS_KEY });
  other = await startNode(url, { SECRETS_KEY });
});
afterAll(() => Promise.all([node, other].map((each) => each.close())));

async function send(tenantId: string, events: readonly Submission[], by = node): Promise<string[]> {
  const results = await by.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');
  return results.map((result) => (result.status === 'error' ? result.refusal.code : result.status));
}

const named = (externalEventId: string, fields: Partial<EventFields> = {}): Submission =>
  aSubmission({ externalEventId, identifiers: [external('jane')], ...fields });
const idOf = (tenantId: string, name: string): string => eventIdOf(tenantId, 'shop', name);
const namesLeft = async (tenantId: string): Promise<string[]> =>
  (
    await rowsOf<{ name: string }>(
      url,
      'SELECT external_event_id AS name FROM events WHERE tenant_id = $1 ORDER BY 1',
      [tenantId],
    )
  ).map(({ name }) => name);
const expiredIds = async (tenantId: string): Promise<string[]> =>
  (
    await rowsOf<{ id: string }>(
      url,
      `SELECT u.id FROM expired_events x CROSS JOIN unnest(ARRAY[event_id, other_event_id]) AS u (id)
       WHERE tenant_id = $1 AND u.id IS NOT NULL ORDER BY 1`,
      [tenantId],
    )
  ).map(({ id }) => id);
const countsOf = (tenantId: string) =>
  rowsOf(url, 'SELECT sum(events)::int AS events FROM expired_event_counts WHERE tenant_id = $1', [tenantId]);

/** Takes what is queued out, as a worker does with events that nothing is done with. */
const process = (tenantId: string) => rowsOf(url, 'DELETE FROM queued_bundles WHERE tenant_id = $1', [tenantId]);

/** A workspace whose events of these names are processed, and were received 40 days ago. */
async function withOldEvents(names: readonly string[]): Promise<string> {
  const { tenantId } = await aTenant(url);
  const events = names.map((name) => named(name));
  expect(new Set(await send(tenantId, events))).toEqual(new Set(['accepted']));
  await process(tenantId);
  await letDaysPass(url, tenantId, 40);
  return tenantId;
}

const expire = async (tenantId: string): Promise<void> => {
  await keepDays(node, tenantId, 30);
  await expireAll(node);
};

describe('old events', () => {
  it('go by their time of receipt; each is a duplicate from then on, the last of an odd number too', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const tenantId = await withOldEvents(names);
    await send(tenantId, [named('new')]);
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual(['new']);
    expect(await expiredIds(tenantId)).toEqual(names.map((name) => idOf(tenantId, name)).sort());
    expect(await countsOf(tenantId)).toEqual([{ events: 5 }]);
    for (const by of [node, other]) {
      const again = [...names, 'new'].map((name) => named(name));
      expect(await send(tenantId, again, by)).toEqual(again.map(() => 'duplicate'));
    }
    expect(await namesLeft(tenantId)).toEqual(['new']);
  });

  it('are late since the change of the rule, or since they should have been gone', async () => {
    const tenantId = await withOldEvents(['a']);
    await keepDays(node, tenantId, 30);
    const rule = (changes: string) =>
      rowsOf(
        url,
        `UPDATE event_retention SET next_step_at = '-infinity', changed_at = clock_timestamp() - interval '3 days',
           ${changes} WHERE tenant_id = $1`,
        [tenantId],
      );
    const hoursBehind = async (): Promise<number> => {
      const turn = await node.get(RetentionRepository).takeTurn();
      expect(turn?.tenantId).toBe(tenantId);
      // What the metric shows; no other workspace has a rule now.
      expect(await node.get(RetentionRepository).secondsBehind()).toBeCloseTo(turn?.secondsBehind ?? NaN, -1);
      return Math.round((turn?.secondsBehind ?? NaN) / 3_600);
    };
    await rule('expired_before = NULL');
    expect(await hoursBehind()).toBe(72);
    await rule(`expired_before = clock_timestamp() - interval '40 days'`);
    expect(await hoursBehind()).toBe(72);
    await rule(`expired_before = clock_timestamp() - interval '31 days'`);
    expect(await hoursBehind()).toBe(24);
    await keepDays(node, tenantId, null);
  });

  it('of another workspace stay, with the same names and the same customers', async () => {
    const [one, neighbour] = [await withOldEvents(['a', 'b', 'c']), await withOldEvents(['a'])];
    await expire(one);
    expect(await namesLeft(neighbour)).toEqual(['a']);
    expect(await send(neighbour, [named('b'), named('c')])).toEqual(['accepted', 'accepted']);
  });

  it('say what they said, as far as a copy can be compared; nobody can try guesses on what is left', async () => {
    const tenantId = await withOldEvents(['a', 'b', 'erased']);
    await rowsOf(url, `UPDATE events SET content_hash = '' WHERE tenant_id = $1 AND external_event_id = 'erased'`, [
      tenantId,
    ]);
    const hashes = await rowsOf<{ hash: Buffer }>(url, 'SELECT content_hash AS hash FROM events WHERE tenant_id = $1', [
      tenantId,
    ]);
    await expire(tenantId);
    const differing = { properties: { amount: 2 } };
    const results = await node
      .get(IngestPipeline)
      .ingest(aCaller(tenantId), [named('a'), named('b', differing), named('erased', differing)], 'live');
    expect(results).toMatchObject([
      { status: 'duplicate', eventId: idOf(tenantId, 'a'), warnings: [] },
      { status: 'duplicate', eventId: idOf(tenantId, 'b'), warnings: ['payload_mismatch'] },
      { status: 'duplicate', eventId: idOf(tenantId, 'erased'), warnings: [] },
    ]);
    const checks = await rowsOf<{ check: string | null }>(
      url,
      `SELECT u.c::text AS check FROM expired_events
       CROSS JOIN unnest(ARRAY[content_check, other_content_check]) AS u (c) WHERE tenant_id = $1`,
      [tenantId],
    );
    const plain = hashes.filter(({ hash }) => hash.length > 0).map(({ hash }) => hash.readBigInt64BE(0).toString());
    const stored = checks.flatMap(({ check }) => check ?? []);
    expect(stored).toHaveLength(2);
    expect(stored.filter((check) => plain.includes(check))).toEqual([]);
  });

  it('stay while they are queued, parked or waiting for their customer; one that failed for good goes', async () => {
    const { tenantId } = await aTenant(url);
    await prepareEffects(url);
    await rowsOf(url, 'CREATE TABLE test_concerned (tenant_id uuid, event_type text)');
    await rowsOf(url, `INSERT INTO test_concerned VALUES ($1, 'concerned')`, [tenantId]);
    const worker = await startNode(url, { SECRETS_KEY });
    const effect = recordEffects(worker, CONCERNED);
    effect.failing.add('parked');
    const concerned = (name: string, who: Identifier, properties = {}) =>
      named(name, { eventType: 'concerned', identifiers: [who], properties });
    await send(
      tenantId,
      [
        concerned('parked', external('jane')),
        concerned('behind', external('jane')),
        concerned('waiting', device('phone'), { breaks: 'waits' }),
        concerned('processed', external('joe')),
        concerned('failed', external('jim'), { breaks: 'never-fits' }),
      ],
      worker,
    );
    startWorker(worker);
    const places = `SELECT (SELECT count(*)::int FROM parked_events WHERE tenant_id = $1) AS parked,
      (SELECT count(*)::int FROM waiting_events WHERE tenant_id = $1) AS waiting,
      (SELECT count(*)::int FROM event_queue WHERE tenant_id = $1) AS queued`;
    await until(
      async () => JSON.stringify(await rowsOf(url, places, [tenantId])) === '[{"parked":2,"waiting":1,"queued":0}]',
    );
    await worker.close();
    await send(tenantId, [named('bundled')]);
    await letDaysPass(url, tenantId, 40);
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual(['behind', 'bundled', 'parked', 'waiting']);
    const records = 'SELECT event_id AS id FROM event_processing WHERE tenant_id = $1 ORDER BY 1';
    const ids = ['parked', 'waiting'].map((name) => idOf(tenantId, name)).sort();
    expect((await rowsOf<{ id: string }>(url, records, [tenantId])).map(({ id }) => id)).toEqual(ids);
    await process(tenantId);
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual(['behind', 'parked', 'waiting']);
    expect(await countsOf(tenantId)).toEqual([{ events: 3 }]);
  });

  it('that an erasure has locked are left for the next pass, and nobody waits', async () => {
    const tenantId = await withOldEvents(['a', 'b']);
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      const lock = 'SELECT 1 FROM events WHERE tenant_id = $1 AND event_id = $2 FOR UPDATE';
      await client.query(lock, [tenantId, idOf(tenantId, 'a')]);
      await expire(tenantId);
      expect(await namesLeft(tenantId)).toEqual(['a']);
      await client.query('ROLLBACK');
    });
    expect(await send(tenantId, [named('a'), named('b')])).toEqual(['duplicate', 'duplicate']);
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual([]);
    expect(await countsOf(tenantId)).toEqual([{ events: 2 }]);
    expect(await expiredIds(tenantId)).toHaveLength(2);
  });

  it('of several workspaces go in turns, a thousand at a time', async () => {
    const tenants = [await withOldEvents(['a']), await withOldEvents(['a'])];
    for (const tenantId of tenants) {
      await rowsOf(
        url,
        `INSERT INTO events SELECT (json_populate_record(e, json_build_object('event_id', gen_random_uuid()))).*
         FROM events e, generate_series(1, 1500) WHERE e.tenant_id = $1`,
        [tenantId],
      );
      await keepDays(node, tenantId, 30);
    }
    const left = () => Promise.all(tenants.map(async (tenantId) => (await namesLeft(tenantId)).length));
    const [before, first, second] = [await left(), await leftAfterStep(left), await leftAfterStep(left)];
    // A step takes a thousand events, or fewer on a slow machine.
    expect([first[0]! >= before[0]! - 1_000, first[0]! < before[0]!, first[1]]).toEqual([true, true, before[1]]);
    expect([second[0], second[1]! < before[1]!]).toEqual([first[0], true]);
    await expireAll(node);
    expect(await left()).toEqual([0, 0]);
  });
});

async function leftAfterStep(left: () => Promise<number[]>): Promise<number[]> {
  await node.get(RetentionJob).step();
  return left();
}

/** What the store would insert for a copy of an event. */
function insertionOf(tenantId: string, name: string): ResolvedEvent {
  const event = {
    tenantId,
    eventId: idOf(tenantId, name),
    family: 'external',
    source: 'shop',
    externalEventId: name,
    eventType: 'purchase',
    eventTypeVersion: null,
    occurredAt: null,
    submission: {},
    identity: '{}',
    properties: '{}',
    contentHash: 'abcdefghijklmnopqrstuvwx',
  };
  return { event, profileId: randomUUID(), rootId: '', queueBundleId: null } as unknown as ResolvedEvent;
}

const insert = (client: Client, tenantId: string, names: readonly string[]) =>
  client.query<{ event_id: string }>(
    INSERT_EVENTS.text,
    insertParameters(
      names.map((name) => insertionOf(tenantId, name)),
      randomUUID(),
    ),
  );

/** Until the removal waits for statements that insert events, or `removing` has ended. */
async function untilItWaits(removing: Promise<unknown>): Promise<string> {
  const waits = until(async () => {
    const found = await rowsOf(
      url,
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cds-expiry'
         AND query LIKE '%virtualtransaction = ANY%'`,
    );
    return found.length > 0;
  });
  return Promise.race([waits.then(() => 'waits'), removing.then(() => 'has ended')]);
}

describe('a sender that repeats an event while it expires', () => {
  it('whose statement began before the key was kept does not store it again', async () => {
    const tenantId = await withOldEvents(['old']);
    // The statement meets this one first.
    const earlier = Array.from({ length: 99 }, (_unused, number) => `earlier-${number}`);
    const first = earlier.find((name) => idOf(tenantId, name) < idOf(tenantId, 'old')) ?? '';
    await withClient(url, async (holder) => {
      await holder.query('BEGIN');
      await insert(holder, tenantId, [first]);
      await withClient(url, async (sender) => {
        await sender.query(`SET application_name = 'sender'`);
        const sending = insert(sender, tenantId, [first, 'old']);
        await untilBlocked(url, 'sender', 1);
        await keepDays(node, tenantId, 30);
        const removing = node.get(RetentionJob).step();
        expect(await untilItWaits(removing)).toBe('waits');
        expect(await expiredIds(tenantId)).toEqual([idOf(tenantId, 'old')]);
        expect(await namesLeft(tenantId)).toEqual(['old']);
        await holder.query('ROLLBACK');
        expect((await sending).rows).toEqual([{ event_id: idOf(tenantId, first) }]);
        await removing;
      });
    });
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual([first]);
    expect(await send(tenantId, [named('old')])).toEqual(['duplicate']);
  });

  it('gets duplicates from every node at every moment', async () => {
    const names = Array.from({ length: 2_400 }, (_unused, number) => `old-${number}`);
    const tenantId = await withOldEvents(names);
    await keepDays(node, tenantId, 30);
    let isOver = false;
    const answers = new Set<string>();
    let sent = 0;
    const sendAgain = async (by: INestApplicationContext, start: number): Promise<void> => {
      for (let at = start; !isOver || sent < names.length; at = (at + 300) % names.length) {
        const copies = names.slice(at, at + 300);
        for (const answer of await send(
          tenantId,
          copies.map((name) => named(name)),
          by,
        ))
          answers.add(answer);
        sent += copies.length;
      }
    };
    const senders = [sendAgain(node, 0), sendAgain(other, 1_200), sendAgain(other, 300)];
    await until(async () => {
      await expireAll(node);
      return (await namesLeft(tenantId)).length === 0;
    }, 60).finally(() => (isOver = true));
    await Promise.all(senders);
    // An event that somebody locks for long is to be sent again (503).
    expect([...answers].filter((answer) => answer !== 'unavailable')).toEqual(['duplicate']);
    expect(await expiredIds(tenantId)).toEqual(names.map((name) => idOf(tenantId, name)).sort());
    expect(await countsOf(tenantId)).toEqual([{ events: names.length }]);
  });
});

describe('a rule that changes while its events are removed', () => {
  it('is not applied any more: the event stays, is a duplicate, and is counted once when it goes', async () => {
    const tenantId = await withOldEvents(['old']);
    await withClient(url, async (holder) => {
      await holder.query('BEGIN');
      await insert(holder, tenantId, ['other']);
      await keepDays(node, tenantId, 30);
      const removing = node.get(RetentionJob).step();
      expect(await untilItWaits(removing)).toBe('waits');
      await node.get(RetentionService).change(tenantId, null, { by: 'test', address: null });
      await holder.query('ROLLBACK');
      await removing;
    });
    await expireAll(node);
    expect(await namesLeft(tenantId)).toEqual(['old']);
    expect(await send(tenantId, [named('old')])).toEqual(['duplicate']);
    await expire(tenantId);
    expect(await namesLeft(tenantId)).toEqual([]);
    expect(await countsOf(tenantId)).toEqual([{ events: 1 }]);
    expect(await expiredIds(tenantId)).toHaveLength(1);
  });
});

it('without SECRETS_KEY nothing is kept of what expired events said, and every copy counts as the same', async () => {
  const plain = await startNode(url);
  const { tenantId } = await aTenant(url);
  await send(tenantId, [named('a'), named('b')], plain);
  await process(tenantId);
  await letDaysPass(url, tenantId, 40);
  await keepDays(plain, tenantId, 30);
  await expireAll(plain);
  const kept = 'SELECT content_check, other_content_check FROM expired_events WHERE tenant_id = $1';
  expect(await rowsOf(url, kept, [tenantId])).toEqual([{ content_check: null, other_content_check: null }]);
  const results = await plain
    .get(IngestPipeline)
    .ingest(aCaller(tenantId), [named('a', { properties: { amount: 2 } })], 'live');
  expect(results).toMatchObject([{ status: 'duplicate', warnings: [] }]);
  await plain.close();
});
