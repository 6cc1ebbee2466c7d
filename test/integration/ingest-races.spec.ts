import type { INestApplicationContext } from '@nestjs/common';
import type { Identifier } from '../../src/identity/domain/identifier';
import { RefusalsOfStoredEvents } from '../../src/ingest/refusals-of-stored-events';
import type { JobPayload } from '../../src/platform/jobs/jobs';
import { EventSubscriptions } from '../../src/ingest/store/event-subscriptions';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aCaller, aSubmission, device, email, external, startNode } from '../support/ingest';
import { QUEUED_EVENTS } from '../support/processing';
import { closeRefusals } from '../support/review';
import { aTenant } from '../support/tenant';

let url: string;
let slow: INestApplicationContext;
let quick: INestApplicationContext;
/** What happens before the look of the slow node at the subscribers of a batch, once. */
let between: () => Promise<unknown>;
/** How often it has looked. */
let looks: number;
/** What happens after that look, once. */
let afterwards: () => Promise<unknown>;

beforeAll(async () => {
  url = await freshDatabaseUrl('ingest_races');
  slow = await startNode(url);
  quick = await startNode(url);
  const audience = slow.get(EventSubscriptions);
  const look = audience.of.bind(audience);
  jest.spyOn(audience, 'of').mockImplementation(async (...asked) => {
    looks += 1;
    const happen = between;
    between = () => Promise.resolve();
    await happen();
    const found = await look(...asked);
    const follow = afterwards;
    afterwards = () => Promise.resolve();
    await follow();
    return found;
  });
});

beforeEach(() => {
  between = () => Promise.resolve();
  afterwards = () => Promise.resolve();
});

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

  it('changes no customer for an event that somebody stores behind its look with another content', async () => {
    const { tenantId } = await aTenant(url);
    const [mail, key] = [email('jane@example.com'), device('device-1')];
    const of = (externalEventId: string, ...identifiers: readonly Identifier[]) =>
      aSubmission({ externalEventId, identifiers });
    await take(quick, tenantId, [of('first', mail), of('second', key)]);
    between = () => take(quick, tenantId, [aVisit('same')]);
    const results = await take(slow, tenantId, [of('same', mail, key), of('other', mail)]);
    expect(results.map(({ status }) => status)).toEqual(['duplicate', 'accepted']);
    expect(await rowsOf(url, 'SELECT 1 FROM profile_merges WHERE tenant_id = $1', [tenantId])).toEqual([]);
    between = () => take(quick, tenantId, [aVisit('again')]);
    const adding = of('again', mail, email('other@example.com'));
    expect(await take(slow, tenantId, [adding])).toMatchObject([{ status: 'duplicate' }]);
    const named = `SELECT 1 FROM profile_identifiers WHERE tenant_id = $1 AND value = 'other@example.com'`;
    expect(await rowsOf(url, named, [tenantId])).toEqual([]);
  });

  it.each([
    ['about a new customer', 'john', {}],
    ['about a known customer, with a warning', 'jane', { channel: 'fax' }],
  ])('queues an event %s by itself when a reaction to it is defined behind its look', async (_case, who, more) => {
    const { tenantId } = await aTenant(url);
    await take(quick, tenantId, [aVisit('first')]);
    const event = aSubmission({
      externalEventId: 'second',
      eventType: 'signup',
      identifiers: [external(who)],
      ...more,
    });
    afterwards = () =>
      rowsOf(
        url,
        `INSERT INTO reactions (tenant_id, campaign_id, name, id, event_type, operations, enabled, applies_from, created_at,
           updated_at)
         VALUES ($1, 'spring', 'welcome', gen_random_uuid(), 'signup', '[]', true, now(), now(), now()) RETURNING name`,
        [tenantId],
      );
    expect(await take(slow, tenantId, [event])).toMatchObject([{ status: 'accepted' }]);
    expect(await idsOf(tenantId, 'event_queue')).toHaveLength(1);
    expect(await bundled(tenantId)).toEqual([{ events: 1 }]);
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
    const refuse = (tenantId: string, id: string) => {
      const value = { source: 'shop', external_event_id: id };
      return take(quick, tenantId, [{ family: 'external', value, bytes: 60, text: () => '{}' }]);
    };
    let tenantId = '';
    do {
      ({ tenantId } = await aTenant(url));
      await refuse(tenantId, 'never-corrected');
      between = () => refuse(tenantId, 'corrected');
      looks = 0;
      expect(await take(slow, tenantId, [aVisit('corrected')])).toMatchObject([{ status: 'accepted' }]);
      // A second attempt, where the first one took too long, has looked behind the refusal.
    } while (looks > 1);
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
    await closeRefusals(slow);
    const closed = { id: 'corrected', status: 'superseded', stage: 'validation' };
    expect(await rowsOf(url, entries, [tenantId])).toEqual([closed, ...others]);
  });

  it('closes such refusals in steps, and goes on where a step ended', async () => {
    const { tenantId } = await aTenant(url);
    await take(quick, tenantId, [aVisit('stored')]);
    // Twice as many as a step looks at, and behind them one of an event that is stored.
    await rowsOf(
      url,
      `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, payload_form,
         occurrences, first_seen_at, last_seen_at, status, event_id)
       SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'external', 'text',
         1, now(), now(), 'open', event_id
       FROM (
         SELECT lpad(n::text, 32, '0')::uuid AS event_id FROM generate_series(1, 1000) n
         UNION ALL
         SELECT event_id FROM events WHERE tenant_id = $1
       ) refused`,
      [tenantId],
    );
    const superseded = () =>
      rowsOf(url, `SELECT 1 FROM review_entries WHERE tenant_id = $1 AND status = 'superseded'`, [tenantId]);
    const positions: JobPayload[] = [];
    for await (const position of quick.get(RefusalsOfStoredEvents).close({ tenantId })) {
      if (position['tenantId'] === tenantId) positions.push(position);
      if (positions.length === 2) break;
    }
    expect(await superseded()).toEqual([]);
    await closeRefusals(quick, positions[1]);
    expect(await superseded()).toHaveLength(1);
  });
});
