import type { INestApplicationContext } from '@nestjs/common';
import type { Client } from 'pg';
import type { IngestResult } from '../../src/ingest/domain/ingest-result';
import type { Submission } from '../../src/ingest/domain/submission';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { QUEUED_EVENTS } from '../support/processing';
import { databaseUrl, untilBlocked, withClient } from '../support/database';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy';
import { aCaller, aSubmission, email, external, startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';

const aVisit = (): Submission => aSubmission({ identifiers: [external('jane')] });

describe('taking events while things go wrong', () => {
  let url: string;
  let proxy: FaultProxy;
  let node: INestApplicationContext;
  let service: IngestPipeline;

  beforeAll(async () => {
    url = await databaseUrl();
    proxy = await startFaultProxy(url);
    node = await startNode(proxy.urlOf(new URL(url.replace('@/', '@localhost/')).pathname.slice(1)));
    service = node.get(IngestPipeline);
  });

  afterAll(async () => {
    await node.close();
    await proxy.close();
  });

  const storedEvents = (tenantId: string) =>
    withClient(url, async (client) => {
      const events = await client.query<{ event_id: string }>(
        'SELECT event_id FROM events WHERE tenant_id = $1 ORDER BY event_id',
        [tenantId],
      );
      const queued = await client.query(
        `SELECT event_id FROM ${QUEUED_EVENTS} q WHERE tenant_id = $1 ORDER BY event_id`,
        [tenantId],
      );
      expect(queued.rows).toEqual(events.rows);
      return events.rows.map((row) => row.event_id);
    });

  const takeAll = (tenantId: string, events: readonly Submission[]): Promise<readonly IngestResult[]> =>
    service.ingest(aCaller(tenantId), events, 'live');

  const acceptedIds = (results: readonly IngestResult[]) =>
    results.flatMap((result) => (result.status === 'accepted' ? [result.eventId] : [])).sort();

  /** Does something in a transaction that stays open until the given work is done. */
  async function whileOpen<T>(statement: string, values: unknown[], work: (client: Client) => Promise<T>): Promise<T> {
    return withClient(url, async (client) => {
      await client.query('BEGIN');
      await client.query(statement, values);
      return work(client);
    });
  }

  describe.each([
    ['of new customers', () => Array.from({ length: 20 }, () => aSubmission())],
    ['of a customer whom the node knows', () => Array.from({ length: 20 }, () => aVisit())],
  ])('in a batch %s', (_customers, events) => {
    it.each([
      ['answers accepted for what it stored when the answer to COMMIT is lost', () => proxy.loseNextCommitAnswer()],
      ['stores what was lost before COMMIT arrived', () => proxy.loseNextCommit()],
    ])('%s', async (_guarantee, lose) => {
      const { tenantId } = await aTenant(url);
      // What the first makes is remembered when the second has read it.
      for (let time = 0; time < 2; time += 1) await takeAll(tenantId, [aVisit()]);
      const before = await storedEvents(tenantId);
      const lost = lose();
      const results = await takeAll(tenantId, events());
      await lost;
      expect(acceptedIds(results)).toHaveLength(20);
      expect(await storedEvents(tenantId)).toEqual([...before, ...acceptedIds(results)].sort());
    });
  });

  it('costs only one event its answer when somebody else holds that event in an open transaction', async () => {
    const { tenantId } = await aTenant(url);
    const events = Array.from({ length: 50 }, () => aSubmission());
    const dry = await service.ingest(aCaller(tenantId), events, 'dry_run');
    const held = dry[17];
    if (held?.status !== 'accepted') throw new Error('The preview did not accept');
    const results = await whileOpen(
      `INSERT INTO events SELECT $1, $2, 'external', 'shop', 'x', 'purchase', NULL, now(), now(), $2, '{}', '{}', '', $2`,
      [tenantId, held.eventId],
      () => takeAll(tenantId, events),
    );
    expect(results[17]).toMatchObject({ status: 'error', refusal: { code: 'unavailable' } });
    expect(acceptedIds(results)).toHaveLength(49);
    expect(await storedEvents(tenantId)).toEqual(acceptedIds(results));
    const again = await takeAll(tenantId, events);
    expect(acceptedIds(again)).toEqual([held.eventId]);
  });

  it('costs only one event its answer when PostgreSQL refuses its data', async () => {
    const { tenantId } = await aTenant(url);
    const events = Array.from({ length: 50 }, () => aSubmission());
    // The checks would have refused it; this is about what they might not know.
    events[29] = aSubmission({ properties: { text: 'U+0000: \u0000' } });
    const results = await takeAll(tenantId, events);
    expect(results[29]).toMatchObject({ status: 'error', refusal: { code: 'validation_failed' } });
    expect(acceptedIds(results)).toHaveLength(49);
    expect(await storedEvents(tenantId)).toEqual(acceptedIds(results));
    const kept = await withClient(url, (client) =>
      client.query('SELECT payload FROM review_entries WHERE tenant_id = $1', [tenantId]),
    );
    expect(kept.rows).toHaveLength(1);
  });

  it('stores nothing under a profile that is erased while the event is on its way', async () => {
    const { tenantId } = await aTenant(url);
    const person = [external('e1'), email('e1@x.de')];
    await takeAll(tenantId, [aSubmission({ identifiers: person })]);
    const result = await whileOpen(
      // An erasure locks FOR UPDATE first: what then waits FOR KEY SHARE looks at the row again.
      'SELECT 1 FROM profiles WHERE tenant_id = $1 FOR UPDATE',
      [tenantId],
      async (client) => {
        await client.query('UPDATE profiles SET erased_at = now(), version = version + 1 WHERE tenant_id = $1', [
          tenantId,
        ]);
        const sent = service.ingestOne(aCaller(tenantId), aSubmission({ identifiers: person }), 'live');
        await untilBlocked(url, 'cds-ingest', 1);
        await client.query('COMMIT');
        return sent;
      },
    );
    expect(result).toMatchObject({ status: 'error', refusal: { code: 'profile_erased' } });
    expect(await storedEvents(tenantId)).toHaveLength(1);
  });

  it('gives a new identifier to the customer as it is after an undo that commits in between', async () => {
    const { tenantId } = await aTenant(url);
    await takeAll(tenantId, [aSubmission({ identifiers: [email('u1@x.de')] })]);
    await takeAll(tenantId, [aSubmission({ identifiers: [email('u2@x.de')] })]);
    const both = aSubmission({ identifiers: [external('u'), email('u1@x.de')] });
    await takeAll(tenantId, [both]);
    const result = await whileOpen(
      'UPDATE profiles SET version = version + 1, external_id = NULL WHERE tenant_id = $1 AND external_id IS NOT NULL',
      [tenantId],
      async (client) => {
        const sent = service.ingestOne(
          aCaller(tenantId),
          aSubmission({ identifiers: [email('u1@x.de'), external('u9')] }),
          'live',
        );
        await untilBlocked(url, 'cds-ingest', 1);
        await client.query('COMMIT');
        return sent;
      },
    );
    expect(result.status).toBe('accepted');
    const roots = await withClient(url, (client) =>
      client.query("SELECT external_id FROM profiles WHERE tenant_id = $1 AND external_id = 'u9'", [tenantId]),
    );
    expect(roots.rows).toHaveLength(1);
  });

  it.each([
    ['a new customer', () => aSubmission()],
    ['a customer whom it knows', aVisit],
  ])(
    'answers within two seconds for %s while the database is away, and goes on when it is back',
    async (_who, anEvent) => {
      const { tenantId } = await aTenant(url);
      for (let time = 0; time < 2; time += 1) await takeAll(tenantId, [aVisit()]);
      const event = anEvent();
      proxy.setAway(true);
      const asked = performance.now();
      const refused = await service.ingestOne(aCaller(tenantId), event, 'live');
      expect(performance.now() - asked).toBeLessThan(2_500);
      expect(refused).toMatchObject({ status: 'error', refusal: { code: 'unavailable' } });
      proxy.setAway(false);
      expect(await service.ingestOne(aCaller(tenantId), event, 'live')).toMatchObject({ status: 'accepted' });
      expect(await storedEvents(tenantId)).toHaveLength(3);
    },
  );
});
