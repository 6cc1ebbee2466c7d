import { Logger, type INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MergesService } from '../../src/identity/merges.service';
import type { EventFields } from '../../src/ingest/domain/event';
import { SHARDS } from '../../src/ingest/queue/event-queue';
import { Jobs } from '../../src/platform/jobs/jobs';
import { ParkedRetry } from '../../src/processing/parked-retry';
import { ProcessingReplay } from '../../src/processing/processing-replay';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { letParkedTimePass, parkedIdsOf, processingRecordsOf, reviewRecordsOf } from '../support/failed-events';
import { device, external, named, sendTo, startNode } from '../support/ingest';
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
  url = await freshDatabaseUrl('processing_failures');
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

/** Processes the event of the only review entry again. */
async function replayOf(tenantId: string): Promise<unknown> {
  const [row] = await rowsOf<{ id: string; event_id: string }>(
    url,
    'SELECT id, event_id FROM review_entries WHERE tenant_id = $1',
    [tenantId],
  );
  const attempt = { action: 'replayed', at: new Date().toISOString(), by: 'test' } as const;
  const replay = { entryId: row!.id, attempt };
  return node.get(ProcessingReplay).replay({ tenantId, eventId: row!.event_id, replay });
}

describe('an event that cannot be processed', () => {
  it('costs nobody else anything, whichever way it fails; later ones of its customer wait behind it', async () => {
    const { tenantId } = await aTenant(url);
    const poison = ['throw', 'sql', 'last', 'last and throw'];
    const fields = Array.from({ length: 120 }, (_unused, number) => named(`good-${number}`, `customer-${number}`));
    poison.forEach((breaks, index) =>
      fields.splice(20 + 25 * index, 0, named(`bad-${breaks}`, `unlucky-${breaks}`, { breaks })),
    );
    await send(tenantId, [...fields, ...poison.map((breaks) => named(`behind-${breaks}`, `unlucky-${breaks}`))]);
    await until(async () => (await processingOf(tenantId)).length === 124 && (await parkedOf(tenantId)).length === 8);
    const applied = await appliedTo(url, tenantId);
    expect(new Set(applied).size).toBe(120);
    expect(applied).toHaveLength(120);
    expect((await processingOf(tenantId)).filter(({ id }) => id.startsWith('bad'))).toMatchObject(
      poison.map(() => ({ state: 'queued', attempts: 1 })),
    );
    expect(await reviewOf(tenantId)).toEqual([]);
  });

  it('is tried five times within a minute, then fails for good, is kept for review, and lets its customer go on', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, [named('bad', 'jane', { breaks: 'throw' }), named('then', 'jane'), named('last', 'jane')]);
    await until(async () => (await parkedOf(tenantId)).length === 3);
    let waited = 0;
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      expect(await processingOf(tenantId)).toMatchObject([{ id: 'bad', state: 'queued', attempts: attempt - 1 }]);
      waited += await letTimePass(tenantId);
    }
    expect(waited).toBeGreaterThan(10_000);
    expect(waited).toBeLessThan(50_000);
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['then', 'last']);
    expect(await processingOf(tenantId)).toMatchObject([
      { id: 'bad', state: 'failed', attempts: 5, last_error: expect.stringMatching(/^internal: .*\(Error\)/) },
      { id: 'last', state: 'processed', attempts: 1, last_error: null },
      { id: 'then', state: 'processed', attempts: 1, last_error: null },
    ]);
    const entries = await reviewOf(tenantId);
    expect(entries).toEqual([
      expect.objectContaining({
        severity: 'error',
        stage: 'processing',
        reason: 'internal',
        source: 'shop',
        id: 'bad',
        about: true,
        event_type: 'purchase',
        status: 'open',
      }),
    ]);
    expect(JSON.stringify([entries, await processingOf(tenantId)])).not.toMatch(/secret-value|jane/);
  });

  it('fails at once when it can never succeed; what was applied stays', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, [named('bad', 'jane', { breaks: 'never-fits' }), named('then', 'jane')]);
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['bad', 'then']);
    expect(await processingOf(tenantId)).toMatchObject([
      { id: 'bad', state: 'failed', attempts: 1, last_error: 'validation_failed: A value does not fit.' },
      { id: 'then', state: 'processed' },
    ]);
    expect(await reviewOf(tenantId)).toMatchObject([{ id: 'bad', reason: 'validation_failed', stage: 'processing' }]);
  });
});

describe('events of which nothing can be written down', () => {
  it('keep their places waiting, are told of once, and cost other places nothing; they are processed once it can', async () => {
    const [stuck, other] = await Promise.all([aTenant(url), aTenant(url)]);
    const told = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const refusal = await refuseWrites(url, 'event_processing', `NEW.tenant_id = '${stuck.tenantId}'`);
    const fields = Array.from({ length: 200 }, (_unused, number) => named(`${number}`, `customer-${number}`));
    await send(stuck.tenantId, fields);
    await until(() => effect.attempts.size > 50);
    await send(other.tenantId, fields);
    // Some tenths of a second; were each of its turns to wait for one that fails, it would take twenty seconds.
    await untilDrained(url, other.tenantId, 12);
    expect(await processingOf(stuck.tenantId)).toEqual([]);
    // A turn that fails takes three attempts and more, so that each of these has had several.
    await until(() => [...effect.attempts.values()].filter((attempts) => attempts >= 8).length > 100);
    const lines = told.mock.calls.map(([line]) => String(line)).filter((line) => line.includes(stuck.tenantId));
    expect(lines.length).toBeGreaterThan(20);
    expect(new Set(lines).size).toBe(lines.length);
    told.mockRestore();
    await refusal.undo();
    await untilDrained(url, stuck.tenantId);
    expect(new Set(await appliedTo(url, stuck.tenantId))).toEqual(new Set(fields.map((each) => each.externalEventId)));
  });

  it('let others of their place be tried again', async () => {
    const { tenantId } = await aTenant(url);
    const ids = ['stuck', 'good'].flatMap((what) =>
      Array.from({ length: 100 }, (_unused, number) => `${what}-${number}`),
    );
    for (const id of ids) effect.failing.add(id);
    await send(
      tenantId,
      ids.map((id) => named(id, id)),
    );
    await until(async () => (await parkedOf(tenantId)).length === ids.length);
    effect.failing.clear();
    const refused = (
      await rowsOf<{ event_id: string }>(
        url,
        `SELECT event_id FROM events WHERE tenant_id = $1 AND external_event_id LIKE 'stuck-%'`,
        [tenantId],
      )
    ).map((row) => row.event_id);
    const refusal = await refuseWrites(url, 'event_processing', `NEW.event_id = ANY ('{${refused.join()}}')`);
    // On a busy machine an attempt may end by a time limit, and the next one goes on.
    await until(async () => {
      await rowsOf(url, 'UPDATE parked_events SET retry_at = now() WHERE tenant_id = $1', [tenantId]);
      for (const shard of SHARDS) {
        const retried = node.get(ParkedRetry).retry({ tenantId, shard });
        await retried.catch(() => undefined);
      }
      return (await parkedOf(tenantId)).every((id) => !id.startsWith('good'));
    });
    expect(await parkedOf(tenantId)).toHaveLength(refused.length);
    await refusal.undo();
  });
});

describe('an event that fails for a while', () => {
  it('is tried again by a job, and those behind it follow in their order', async () => {
    const { tenantId } = await aTenant(url);
    effect.failing.add('first');
    await send(tenantId, [named('first', 'jane'), named('second', 'jane')]);
    await until(async () => (await parkedOf(tenantId)).length === 2);
    await send(tenantId, [named('third', 'jane')]);
    await until(async () => (await parkedOf(tenantId)).length === 3);
    effect.failing.clear();
    node.get(Jobs).start();
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['first', 'second', 'third']);
    expect(await processingOf(tenantId)).toMatchObject([
      { id: 'first', state: 'processed', attempts: 2, last_error: null },
      { id: 'second', state: 'processed', attempts: 1 },
      { id: 'third', state: 'processed', attempts: 1 },
    ]);
  });

  it('is found again when the job that was to try it is lost', async () => {
    const { tenantId } = await aTenant(url);
    effect.failing.add('lost');
    await send(tenantId, [named('lost', 'jane')]);
    await until(async () => (await parkedOf(tenantId)).length === 1);
    effect.failing.clear();
    await rowsOf(
      url,
      `SELECT cds_jobs.remove_job(key) FROM cds_jobs.jobs WHERE key LIKE 'parked-events/' || $1 || '%'`,
      [tenantId],
    );
    await rowsOf(url, `UPDATE parked_events SET retry_at = now() - interval '10 seconds' WHERE tenant_id = $1`, [
      tenantId,
    ]);
    node.get(Jobs).start();
    await node.get(Jobs).add(node.get(DataSource).manager, 'parked-events-sweep', {}, { key: 'now' });
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['lost']);
  });

  it('lets more wait behind it than go back at a time, in their order', async () => {
    const { tenantId } = await aTenant(url);
    effect.failing.add('0');
    const ids = Array.from({ length: 1_200 }, (_unused, number) => String(number));
    await send(
      tenantId,
      ids.slice(0, 600).map((id) => named(id, 'jane')),
    );
    await send(
      tenantId,
      ids.slice(600).map((id) => named(id, 'jane')),
    );
    await until(async () => (await parkedOf(tenantId)).length === 1_200);
    effect.failing.clear();
    await until(async () => {
      await letTimePass(tenantId);
      return (await parkedOf(tenantId)).length === 0;
    });
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(ids);
  });

  it('waits itself for earlier ones that have waited for its customer, and so do those behind it', async () => {
    const { tenantId } = await aTenant(url);
    const ofDevice = { identifiers: [device('d')] };
    await send(tenantId, [{ externalEventId: 'waits', ...ofDevice, properties: { breaks: 'waits' } }]);
    await untilDrained(url, tenantId);
    effect.failing.add('fails');
    await send(tenantId, [{ externalEventId: 'fails', ...ofDevice }]);
    await send(tenantId, [{ externalEventId: 'login', identifiers: [external('jane'), device('d')] }]);
    await until(async () => (await parkedOf(tenantId)).length === 2);
    effect.failing.clear();
    await until(async () => {
      await letTimePass(tenantId);
      return (await parkedOf(tenantId)).length === 0;
    });
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['waits', 'fails', 'login']);
  });

  it('keeps what was recorded of it while it is tried again after it has waited', async () => {
    const { tenantId } = await aTenant(url);
    const recorded = () =>
      rowsOf(
        url,
        `SELECT state, reactions->-1->>'outcome' AS outcome FROM event_processing JOIN events USING (tenant_id, event_id)
         WHERE tenant_id = $1 AND external_event_id = 'waits'`,
        [tenantId],
      );
    await send(tenantId, [{ externalEventId: 'waits', identifiers: [device('d')], properties: { breaks: 'waits' } }]);
    await untilDrained(url, tenantId);
    effect.failing.add('waits');
    await send(tenantId, [{ externalEventId: 'login', identifiers: [external('jane'), device('d')] }]);
    await until(async () => (await parkedOf(tenantId)).includes('waits'));
    expect(await recorded()).toEqual([{ state: 'queued', outcome: 'waiting_for_customer' }]);
    effect.failing.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect(await recorded()).toEqual([{ state: 'processed', outcome: 'applied' }]);
    expect(await appliedTo(url, tenantId)).toEqual(['waits', 'login']);
  });

  it('is waited for by later events of the profile that its customer was merged into', async () => {
    const { tenantId } = await aTenant(url);
    effect.failing.add('early');
    await send(tenantId, [{ externalEventId: 'early', identifiers: [device('d')] }]);
    await until(async () => (await parkedOf(tenantId)).length === 1);
    await send(tenantId, [{ externalEventId: 'merge', identifiers: [external('jane'), device('d')] }]);
    await send(tenantId, [named('late', 'jane'), named('else', 'somebody')]);
    await until(async () => (await processingOf(tenantId)).some(({ id }) => id === 'else'));
    expect(await appliedTo(url, tenantId)).toEqual(['else']);
    effect.failing.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['else', 'early', 'merge', 'late']);
  });

  it('is waited for by later events of its profile when an undo has parted that from the customer', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, [named('first', 'jane')]);
    await send(tenantId, [{ externalEventId: 'own', identifiers: [device('d')] }]);
    await send(tenantId, [{ externalEventId: 'merge', identifiers: [external('jane'), device('d')] }]);
    await untilDrained(url, tenantId);
    effect.failing.add('early');
    await send(tenantId, [{ externalEventId: 'early', identifiers: [device('d')] }]);
    await until(async () => (await parkedOf(tenantId)).length === 1);
    const [merge] = await rowsOf<{ id: string }>(url, 'SELECT id FROM profile_merges WHERE tenant_id = $1', [tenantId]);
    await node.get(MergesService).undo(tenantId, merge!.id);
    await send(tenantId, [{ externalEventId: 'late', identifiers: [device('d')] }]);
    await send(tenantId, [named('else', 'somebody')]);
    await until(async () => (await processingOf(tenantId)).some(({ id }) => id === 'else'));
    effect.failing.clear();
    await letTimePass(tenantId);
    await untilDrained(url, tenantId);
    expect((await appliedTo(url, tenantId)).filter((id) => id === 'early' || id === 'late')).toEqual(['early', 'late']);
  });

  it('keeps the reactions that a backfill brought to it, for its replay', async () => {
    const { tenantId } = await aTenant(url);
    const reactions = async () =>
      (
        await rowsOf<{ reactions: unknown }>(
          url,
          `SELECT reactions FROM event_processing JOIN events USING (tenant_id, event_id)
           WHERE tenant_id = $1 AND external_event_id = 'waits'`,
          [tenantId],
        )
      )[0]?.reactions;
    const brought = { campaignId: 'spring', name: 'thank', backfilledAt: '2026-01-02T03:04:05.000Z' };
    await send(tenantId, [{ externalEventId: 'waits', identifiers: [device('d')], properties: { breaks: 'waits' } }]);
    await untilDrained(url, tenantId);
    await rowsOf(url, 'UPDATE event_processing SET reactions = $2 WHERE tenant_id = $1', [
      ...[tenantId, JSON.stringify([{ ...brought, outcome: 'waiting_for_customer' }])],
    ]);
    effect.failing.add('waits');
    await send(tenantId, [{ externalEventId: 'login', identifiers: [external('jane'), device('d')] }]);
    await until(async () => (await parkedOf(tenantId)).includes('waits'));
    for (let attempt = 2; attempt <= 5; attempt += 1) await letTimePass(tenantId);
    expect(await reactions()).toEqual([{ ...brought, outcome: 'failed', reason: 'internal' }]);
    await expect(replayOf(tenantId)).resolves.toMatchObject({ failure: { code: 'internal' } });
    expect(await reactions()).toEqual([{ ...brought, outcome: 'failed', reason: 'internal' }]);
  });
});
