import type { INestApplicationContext } from '@nestjs/common';
import { RefusalsOfStoredEvents } from '../../src/ingest/refusals-of-stored-events';
import { EventSubscriptions } from '../../src/ingest/store/event-subscriptions';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aCaller, aSubmission, external, startNode } from '../support/ingest';
import { QUEUED_EVENTS } from '../support/processing';
import { aTenant } from '../support/tenant';

let url: string;
let slow: INestApplicationContext;
let quick: INestApplicationContext;
/** What happens between the look of the slow node at a batch and what it stores, once. */
let between: () => Promise<unknown>;

beforeAll(async () => {
  url = await freshDatabaseUrl('ingest_races');
  slow = await startNode(url);
  quick = await startNode(url);
  const audience = slow.get(EventSubscriptions);
  const look = audience.of.bind(audience);
  jest.spyOn(audience, 'of').mockImplementation(async (...asked) => {
    const happen = between;
    between = () => Promise.resolve();
    await happen();
    return look(...asked);
  });
});
beforeEach(() => (between = () => Promise.resolve()));

afterAll(() => Promise.all([slow, quick].map((node) => node.close())));

const aVisit = (externalEventId: string, properties = {}, who = 'jane') =>
  aSubmission({ externalEventId, properties, identifiers: [external(who)] });

const take = (node: INestApplicationContext, tenantId: string, events: Parameters<IngestPipeline['ingest']>[1]) =>
  node.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');

const idsOf = (tenantId: string, table: string) =>
  rowsOf(url, `SELECT event_id FROM ${table} t WHERE tenant_id = $1 ORDER BY event_id`, [tenantId]);

/** How many events the bundles of a workspace say they have; more than there are would never be worked off. */
const bundled = (tenantId: string) =>
  rowsOf(url, 'SELECT sum(events)::int AS events FROM queued_bundles WHERE tenant_id = $1', [tenantId]);

describe('a batch about customers who are known', () => {
  it('answers an event that somebody stores behind its look as a duplicate, and takes the others once', async () => {
    const { tenantId } = await aTenant(url);
    await take(quick, tenantId, [aVisit('first')]);
    between = () => take(quick, tenantId, [aVisit('b'), aVisit('c', { amount: 2 })]);
    const results = await take(
      slow,
      tenantId,
      ['a', 'b', 'c', 'd'].map((name) => aVisit(name)),
    );
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'duplicate', 'duplicate', 'accepted']);
    const events = await idsOf(tenantId, 'events');
    expect(events).toHaveLength(5);
    expect(await idsOf(tenantId, QUEUED_EVENTS)).toEqual(events);
    expect(await bundled(tenantId)).toEqual([{ events: 5 }]);
    const warnings = await rowsOf(url, 'SELECT reason FROM review_entries WHERE tenant_id = $1', [tenantId]);
    expect(warnings).toEqual([{ reason: 'payload_mismatch' }]);
  });

  it('stores nothing for a customer who is erased behind its look, and everything for the others', async () => {
    const { tenantId } = await aTenant(url);
    await take(quick, tenantId, [aVisit('first'), aVisit('second', {}, 'john')]);
    between = () =>
      rowsOf(
        url,
        `UPDATE profiles SET erased_at = now() WHERE tenant_id = $1 AND external_id = 'jane' RETURNING profile_id`,
        [tenantId],
      );
    const results = await take(slow, tenantId, [aVisit('a'), aVisit('b', {}, 'john')]);
    expect(results).toMatchObject([{ status: 'error', refusal: { code: 'profile_erased' } }, { status: 'accepted' }]);
    const events = await idsOf(tenantId, 'events');
    expect(events).toHaveLength(3);
    expect(await idsOf(tenantId, QUEUED_EVENTS)).toEqual(events);
    expect(await bundled(tenantId)).toEqual([{ events: 3 }]);
  });

  it('closes the refusal of an event that comes in right', async () => {
    const { tenantId } = await aTenant(url);
    await take(quick, tenantId, [aVisit('first')]);
    const value = { source: 'shop', external_event_id: 'corrected' };
    await take(quick, tenantId, [{ family: 'external', value, bytes: 60, text: () => '{}' }]);
    const open = `SELECT status FROM review_entries WHERE tenant_id = $1 AND severity = 'error'`;
    expect(await rowsOf(url, open, [tenantId])).toEqual([{ status: 'open' }]);
    expect(await take(slow, tenantId, [aVisit('corrected')])).toMatchObject([{ status: 'accepted' }]);
    expect(await rowsOf(url, open, [tenantId])).toEqual([{ status: 'superseded' }]);
  });

  it('closes, a while later, a refusal that another node records behind its look', async () => {
    const { tenantId } = await aTenant(url);
    const refuse = (id: string) => {
      const value = { source: 'shop', external_event_id: id };
      return take(quick, tenantId, [{ family: 'external', value, bytes: 60, text: () => '{}' }]);
    };
    await refuse('never-corrected');
    between = () => refuse('corrected');
    expect(await take(slow, tenantId, [aVisit('corrected')])).toMatchObject([{ status: 'accepted' }]);
    // An event of that customer has failed in processing, which nothing but its replay resolves.
    await rowsOf(
      url,
      `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, payload_form,
         occurrences, first_seen_at, last_seen_at, status, event_id)
       SELECT tenant_id, gen_random_uuid(), 'error', 'processing', 'failed', 'm', '[]', 'external', 'text',
         1, now(), now(), 'open', event_id FROM events WHERE tenant_id = $1`,
      [tenantId],
    );
    const entries = `SELECT external_event_id AS id, status, stage FROM review_entries WHERE tenant_id = $1
      ORDER BY external_event_id`;
    const before = { status: 'open', stage: 'validation' };
    const others = [
      { id: 'never-corrected', ...before },
      { id: null, status: 'open', stage: 'processing' },
    ];
    expect(await rowsOf(url, entries, [tenantId])).toEqual([{ id: 'corrected', ...before }, ...others]);
    await slow.get(RefusalsOfStoredEvents).closeAll();
    const closed = { id: 'corrected', status: 'superseded', stage: 'validation' };
    expect(await rowsOf(url, entries, [tenantId])).toEqual([closed, ...others]);
  });
});
