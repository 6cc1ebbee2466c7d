import type { INestApplicationContext } from '@nestjs/common';
import type { EventFields } from '../../src/ingest/domain/event';
import { SHARDS } from '../../src/ingest/queue/event-queue';
import { shardOf } from '../../src/ingest/queue/queue-partition';
import { ProcessingReplay } from '../../src/processing/processing-replay';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { letParkedTimePass, parkedIdsOf, processingRecordsOf, reviewRecordsOf } from '../support/failed-events';
import { named, sendTo, startNode } from '../support/ingest';
import {
  appliedTo,
  prepareEffects,
  recordEffects,
  startWorker,
  untilDrained,
  type RecordingEffect,
} from '../support/processing';
import { refuseWrites } from '../support/refused-writes';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

let url: string;
let node: INestApplicationContext;
let effect: RecordingEffect;

beforeAll(async () => {
  url = await freshDatabaseUrl('processing_attempts');
  await prepareEffects(url);
});

beforeEach(async () => {
  node = await startNode(url);
  effect = recordEffects(node);
  startWorker(node);
});

afterEach(() => node.close());

const send = (tenantId: string, fields: readonly Partial<EventFields>[]) => sendTo(node, tenantId, fields);
const processingOf = (tenantId: string) => processingRecordsOf(url, tenantId);
const parkedOf = (tenantId: string) => parkedIdsOf(url, tenantId);
const reviewOf = (tenantId: string) => reviewRecordsOf(url, tenantId);
const letTimePass = (tenantId: string) => letParkedTimePass(node, url, tenantId);

/** Customers whose events are in one partition. */
async function threeOfOneShard(tenantId: string): Promise<readonly [string, string, string]> {
  await send(
    tenantId,
    Array.from({ length: 2 * SHARDS.length + 1 }, (_unused, number) => named(`first-${number}`, `customer-${number}`)),
  );
  await untilDrained(url, tenantId);
  const customers = await rowsOf<{ id: string; profile: string }>(
    url,
    'SELECT external_id AS id, profile_id AS profile FROM profiles WHERE tenant_id = $1',
    [tenantId],
  );
  const ofShards = SHARDS.map((shard) => customers.filter(({ profile }) => shardOf(profile) === shard));
  const [first, second, third] = ofShards.find(({ length }) => length >= 3)!;
  return [first!.id, second!.id, third!.id];
}

describe('an event that takes too long for now', () => {
  it('is tried again like one that fails, and costs only those behind it of its customer', async () => {
    const { tenantId } = await aTenant(url);
    effect.slow.add('slow');
    await send(tenantId, [named('before', 'jane'), named('slow', 'jane'), named('then', 'jane'), named('else', 'ann')]);
    await until(async () => (await parkedOf(tenantId)).length === 2);
    await until(async () => (await appliedTo(url, tenantId)).length === 2);
    expect((await appliedTo(url, tenantId)).toSorted()).toEqual(['before', 'else']);
    expect(await processingOf(tenantId)).toContainEqual({
      id: 'slow',
      state: 'queued',
      attempts: 1,
      last_error: 'timed_out: It takes too long.',
    });
    await letTimePass(tenantId);
    expect(await processingOf(tenantId)).toContainEqual(expect.objectContaining({ id: 'slow', attempts: 2 }));
    effect.slow.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect((await appliedTo(url, tenantId)).filter((id) => id !== 'else')).toEqual(['before', 'slow', 'then']);
    expect(await processingOf(tenantId)).toContainEqual(expect.objectContaining({ id: 'slow', attempts: 3 }));
  });

  it('is not overtaken by those behind it where an event before it fails', async () => {
    const { tenantId } = await aTenant(url);
    const [ann, jane, bob] = await threeOfOneShard(tenantId);
    effect.failing.add('fails');
    effect.slow.add('slow');
    await send(tenantId, [named('fails', ann), named('slow', jane), named('then', jane), named('else', bob)]);
    await until(async () => (await appliedTo(url, tenantId)).includes('else'));
    expect(await appliedTo(url, tenantId)).not.toContain('then');
    await until(async () => (await parkedOf(tenantId)).length === 3);
    expect(await parkedOf(tenantId)).toEqual(['fails', 'slow', 'then']);
    effect.failing.clear();
    effect.slow.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    const applied = await appliedTo(url, tenantId);
    expect(applied.filter((id) => ['slow', 'then'].includes(id))).toEqual(['slow', 'then']);
  });

  it('fails for good the fifth time, and says that it was tried', async () => {
    const { tenantId } = await aTenant(url);
    effect.slow.add('slow');
    await send(tenantId, [named('slow', 'jane')]);
    await until(async () => (await parkedOf(tenantId)).length === 1);
    for (let attempt = 2; attempt <= 5; attempt += 1) await letTimePass(tenantId);
    expect(await processingOf(tenantId)).toMatchObject([
      { state: 'failed', attempts: 5, last_error: expect.stringMatching(/^timed_out: .* tried 5 times/) },
    ]);
    expect(await reviewOf(tenantId)).toMatchObject([{ id: 'slow', reason: 'timed_out', stage: 'processing' }]);
  });
});

describe('effects that leave some events for another turn', () => {
  it('get them in the next ones, each once and in their order', async () => {
    const { tenantId } = await aTenant(url);
    effect.atOnce = 7;
    const ids = Array.from({ length: 150 }, (_unused, number) => String(number));
    await send(
      tenantId,
      ids.map((id) => named(id, 'jane', id === '20' ? { breaks: 'never-fits' } : {})),
    );
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(ids);
    expect([...effect.attempts.values()].every((attempts) => attempts === 1)).toBe(true);
  });

  it('do so also where one of them fails', async () => {
    const { tenantId } = await aTenant(url);
    effect.atOnce = 7;
    effect.failing.add('40');
    const ids = Array.from({ length: 80 }, (_unused, number) => String(number));
    await send(
      tenantId,
      ids.map((id) => named(id, 'jane')),
    );
    await until(async () => (await parkedOf(tenantId)).length === 40);
    expect(await appliedTo(url, tenantId)).toEqual(ids.slice(0, 40));
    effect.failing.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(ids);
  });
});

describe('a session that ends in the middle of a turn', () => {
  /** Ends the sessions in which events are processed, as an operator may, or a network. */
  const endSessions = () =>
    withClient(url, (client) =>
      client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name IN ('cds-worker', 'cds-retries') AND datname = current_database()`,
      ),
    );

  it('was an attempt at each of its events, which are processed once when there is another session', async () => {
    const { tenantId } = await aTenant(url);
    let cuts = 1;
    effect.onApply = async () => {
      if (cuts === 0) return;
      cuts -= 1;
      await endSessions();
    };
    await send(tenantId, [named('1', 'jane'), named('2', 'jane')]);
    await untilDrained(url, tenantId);
    expect(cuts).toBe(0);
    expect(await appliedTo(url, tenantId)).toEqual(['1', '2']);
    expect(await processingOf(tenantId)).toMatchObject([{ attempts: 2 }, { attempts: 2 }]);
    await send(tenantId, [named('3', 'jane')]);
    await untilDrained(url, tenantId);
    expect(await processingOf(tenantId)).toContainEqual(expect.objectContaining({ id: '3', attempts: 1 }));
    expect(await rowsOf(url, 'SELECT 1 FROM queue_turns WHERE tenant_id = $1 AND entries > 0', [tenantId])).toEqual([]);
  });

  it('five times by the same event fails that one for good, and the others are processed once, in their order', async () => {
    const { tenantId } = await aTenant(url);
    let handed = 0;
    effect.onApply = async (events) => {
      if (!events.some(({ event }) => event.externalEventId === 'poison')) return;
      handed += 1;
      await endSessions();
    };
    const others = Array.from({ length: 200 }, (_unused, number) => named(`good-${number}`, `customer-${number}`));
    others.splice(100, 0, named('before', 'jane'), named('poison', 'jane'), named('then', 'jane'));
    await send(tenantId, others);
    await until(async () => (await appliedTo(url, tenantId)).length === 201);
    await until(async () => (await parkedOf(tenantId)).length === 2);
    expect((await parkedOf(tenantId)).toSorted()).toEqual(['poison', 'then']);
    expect(await processingOf(tenantId)).toContainEqual(
      expect.objectContaining({ id: 'poison', state: 'queued', attempts: 2 }),
    );
    for (let attempt = 3; attempt <= 5; attempt += 1) await letTimePass(tenantId).catch(() => undefined);
    expect(handed).toBe(5);
    expect(await processingOf(tenantId)).toContainEqual(
      expect.objectContaining({ id: 'poison', state: 'queued', attempts: 5 }),
    );
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect(handed).toBe(5);
    expect(await processingOf(tenantId)).toContainEqual({
      id: 'poison',
      state: 'failed',
      attempts: 5,
      last_error: expect.stringMatching(/^interrupted: .* tried 5 times/),
    });
    expect(await reviewOf(tenantId)).toMatchObject([{ id: 'poison', reason: 'interrupted', stage: 'processing' }]);
    const applied = await appliedTo(url, tenantId);
    expect(new Set(applied).size).toBe(applied.length);
    expect(applied.filter((id) => !id.startsWith('good'))).toEqual(['before', 'then']);
  });

  it('because there is no room for it is nobody`s attempt', async () => {
    const { tenantId } = await aTenant(url);
    const refusal = await refuseWrites(url, 'test_effects', `NEW.tenant_id = '${tenantId}'`, '53100');
    await send(tenantId, [named('1', 'jane')]);
    await until(() => [...effect.attempts.values()].some((attempts) => attempts >= 3));
    await refusal.undo();
    await untilDrained(url, tenantId);
    expect(await processingOf(tenantId)).toMatchObject([{ id: '1', state: 'processed', attempts: 1 }]);
  });
});

describe('a replay whose session ends in the middle', () => {
  it('was an attempt, and the event is still failed, to be replayed', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, [named('bad', 'jane', { breaks: 'never-fits' })]);
    await untilDrained(url, tenantId);
    const [row] = await rowsOf<{ id: string; event_id: string }>(
      url,
      'SELECT id, event_id FROM review_entries WHERE tenant_id = $1',
      [tenantId],
    );
    effect.onApply = () =>
      withClient(url, async (client) => {
        await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'cds-retries' AND datname = current_database()`,
        );
      });
    const attempt = { at: new Date(), by: 'test', corrected: false } as never;
    const replay = { tenantId, eventId: row!.event_id, replay: { entryId: row!.id, attempt } };
    await expect(node.get(ProcessingReplay).replay(replay)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await processingOf(tenantId)).toMatchObject([{ id: 'bad', state: 'failed', attempts: 2 }]);
    expect(await reviewOf(tenantId)).toMatchObject([{ id: 'bad', status: 'open' }]);
  });
});
