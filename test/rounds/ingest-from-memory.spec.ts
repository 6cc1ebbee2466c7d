import type { INestApplicationContext } from '@nestjs/common';
import fc from 'fast-check';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import type { Identifier } from '../../src/identity/domain/identifier';
import { IdentityService } from '../../src/identity/identity.service';
import { MergesService } from '../../src/identity/merges.service';
import type { EventFields } from '../../src/ingest/domain/event';
import type { Submission } from '../../src/ingest/domain/submission';
import { StoreFromMemory } from '../../src/ingest/store/store-from-memory';
import { StoreTransaction } from '../../src/ingest/store/store-transaction';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aCaller, aSubmission, device, email, external, startNode } from '../support/ingest';
import { CONCERNED, prepareEffects, recordEffects } from '../support/processing';
import { brokenRules } from '../support/sound-customers';
import { aTenant } from '../support/tenant';

const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
const IDENTIFIERS: readonly Identifier[] = [
  ...['jane', 'john'].map(external),
  ...['a@x.de', 'b@x.de', 'c@x.de'].map(email),
  ...['d1', 'd2'].map(device),
];
const MANY = 120;
const TYPES = ['paid', 'sent', 'seen', 'left'];

let url: string;
/** Two that remember, and one that looks at the database each time. */
let nodes: INestApplicationContext[];
let forgetful: INestApplicationContext;
/** Batches that were to be stored from memory, and those of them that were. */
let tried = 0;
let confirmed = 0;

beforeAll(async () => {
  url = await freshDatabaseUrl('from_memory');
  await prepareEffects(url);
  await rowsOf(url, 'CREATE TABLE test_concerned (tenant_id uuid, event_type text)');
  nodes = [await startNode(url, ENVIRONMENT), await startNode(url, ENVIRONMENT)];
  forgetful = await startNode(url, ENVIRONMENT);
  for (const node of [...nodes, forgetful]) recordEffects(node, CONCERNED);
  for (const node of nodes) watch(node.get(StoreFromMemory));
  jest.spyOn(forgetful.get(StoreFromMemory), 'recall').mockReturnValue(undefined);
});

afterAll(() => Promise.all([...nodes, forgetful].map((node) => node.close())));

function watch(memory: StoreFromMemory): void {
  const store = memory.store.bind(memory);
  jest.spyOn(memory, 'store').mockImplementation(async (...parts) => {
    tried += 1;
    const settle = await store(...parts);
    return () => {
      const outcomes = settle();
      if (outcomes !== undefined) confirmed += 1;
      return outcomes;
    };
  });
}

interface SentEvent {
  readonly number: number;
  readonly type: number;
  readonly amount: number;
  readonly names: readonly number[];
}

type Step =
  | { readonly send: readonly SentEvent[] }
  | { readonly refuse: number }
  | { readonly undo: number }
  | { readonly erase: number }
  | { readonly await: number };

const anEvent: fc.Arbitrary<SentEvent> = fc.record({
  number: fc.oneof({ arbitrary: fc.nat(100_000), weight: 9 }, { arbitrary: fc.nat(9), weight: 1 }),
  type: fc.nat(TYPES.length - 1),
  amount: fc.oneof({ arbitrary: fc.constant(1), weight: 9 }, { arbitrary: fc.constant(2), weight: 1 }),
  names: fc.subarray([...IDENTIFIERS.keys()], { minLength: 1, maxLength: 2 }),
});
const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ send: fc.array(anEvent, { minLength: 1, maxLength: 2 }) }) },
  // So many of one customer that they are worth a transaction beside the others.
  { weight: 2, arbitrary: fc.record({ send: fc.tuple(anEvent, fc.array(anEvent, { maxLength: 2 })).map(amongMany) }) },
  { weight: 2, arbitrary: fc.record({ refuse: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ undo: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ erase: fc.nat(IDENTIFIERS.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ await: fc.nat(TYPES.length - 1) }) },
);

function amongMany([{ number, ...many }, others]: readonly [SentEvent, readonly SentEvent[]]): SentEvent[] {
  const first = { number: 200_000 + number, ...many };
  return [...others, ...Array.from({ length: MANY }, (_unused, at) => ({ ...first, number: first.number + at }))];
}

/** Its strongest identifier first; at most one of them EXTERNAL. */
function identifiersOf({ names }: SentEvent): Identifier[] {
  const named = names.map((name) => IDENTIFIERS[name]!);
  return named.filter((each, place) => each.kind !== 'EXTERNAL' || place === 0);
}

function eventOf(event: SentEvent): Submission {
  return aSubmission({
    externalEventId: `event-${event.number}`,
    eventType: TYPES[event.type]!,
    properties: { amount: event.amount },
    identifiers: identifiersOf(event),
    identity: { names: event.names.join(' ') },
  });
}

function refusedEvent(number: number): Submission {
  const value = { source: 'shop', external_event_id: `event-${number}` };
  return { family: 'external', value, bytes: 60, text: () => '{}' };
}

async function take(node: INestApplicationContext, tenantId: string, events: readonly Submission[]) {
  const results = await node.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');
  return results.map((result) => (result.status === 'error' ? result.refusal.code : result.status));
}

async function undo(node: INestApplicationContext, tenantId: string, place: number): Promise<string> {
  const merges = await rowsOf<{ id: string }>(
    url,
    'SELECT id FROM profile_merges WHERE tenant_id = $1 AND undone_at IS NULL ORDER BY id DESC',
    [tenantId],
  );
  const merge = merges[place];
  if (merge === undefined) return 'no merge';
  const settled = await node
    .get(MergesService)
    .undo(tenantId, merge.id)
    .catch(() => undefined);
  return settled === undefined ? 'no undoing' : 'undone';
}

async function erase(node: INestApplicationContext, tenantId: string, place: number): Promise<string> {
  const { kind, value } = IDENTIFIERS[place]!;
  const [holder] = await rowsOf<{ id: string }>(
    url,
    'SELECT profile_id AS id FROM profile_identifiers WHERE tenant_id = $1 AND kind = $2 AND value = $3',
    [tenantId, kind, value],
  );
  if (holder === undefined) return 'nobody';
  await node.get(ErasuresService).erase(aCaller(tenantId), holder.id, '127.0.0.1');
  return 'erased';
}

async function run(node: INestApplicationContext, tenantId: string, step: Step): Promise<unknown> {
  if ('send' in step) return take(node, tenantId, step.send.map(eventOf));
  if ('refuse' in step) return take(node, tenantId, [refusedEvent(step.refuse)]);
  if ('undo' in step) return undo(node, tenantId, step.undo);
  if ('erase' in step) return erase(node, tenantId, step.erase);
  return rowsOf(url, 'INSERT INTO test_concerned VALUES ($1, $2)', [tenantId, TYPES[step.await]]);
}

/** Everything stored of a workspace, without the ids that differ from one workspace to the next. */
async function stateOf(tenantId: string): Promise<unknown> {
  const queries = [
    // Each event, how it is queued, and by what its customer is known.
    `SELECT e.external_event_id, e.event_type, e.properties, q.event_id IS NULL AS bundled,
       ARRAY(SELECT i.kind || i.value FROM profile_identifiers i JOIN profiles m USING (tenant_id, profile_id)
         WHERE i.tenant_id = e.tenant_id AND m.root_id = p.root_id ORDER BY 1) AS customer,
       ARRAY(SELECT i.kind || i.value FROM profile_identifiers i
         WHERE i.tenant_id = e.tenant_id AND i.profile_id = e.profile_id ORDER BY 1) AS profile
     FROM events e JOIN profiles p USING (tenant_id, profile_id)
       LEFT JOIN event_queue q USING (tenant_id, event_id)
     WHERE e.tenant_id = $1 ORDER BY e.external_event_id`,
    `SELECT external_event_id, severity, reason, status, occurrences, details FROM review_entries
     WHERE tenant_id = $1 ORDER BY 1, 2, 3, 4, 5, 6`,
    'SELECT coalesce(sum(events), 0)::int AS bundled FROM queued_bundles WHERE tenant_id = $1',
    `SELECT external_event_id FROM event_queue JOIN events USING (tenant_id, event_id)
     WHERE tenant_id = $1 ORDER BY queued_at, position`,
    'SELECT count(*)::int AS merges, count(undone_at)::int AS undone FROM profile_merges WHERE tenant_id = $1',
  ];
  return Promise.all(queries.map((text) => rowsOf(url, text, [tenantId])));
}

describe('a node that goes by what it remembers', () => {
  it('stores and answers what it would if it looked, whatever other nodes do meanwhile', async () => {
    const aRun = fc.array(fc.tuple(aStep, fc.nat(nodes.length - 1)), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(aRun, async (steps) => {
        const [remembered, looked] = [(await aTenant(url)).tenantId, (await aTenant(url)).tenantId];
        for (const [step, place] of steps) {
          const answers = [await run(nodes[place]!, remembered, step), await run(forgetful, looked, step)];
          expect(answers[0]).toEqual(answers[1]);
        }
        expect(await stateOf(remembered)).toEqual(await stateOf(looked));
        expect(await brokenRules(url, remembered)).toEqual([]);
      }),
      { numRuns: 20, endOnFailure: true },
    );
    expect(confirmed).toBeGreaterThan(100);
    expect(tried - confirmed).toBeGreaterThan(20);
  });
});

describe('what a node remembers', () => {
  let node: INestApplicationContext;

  beforeEach(async () => {
    node = await startNode(url, ENVIRONMENT);
    recordEffects(node, CONCERNED);
    watch(node.get(StoreFromMemory));
  });
  afterEach(() => node.close());

  it('is a customer from the first event on, by each identifier of it', async () => {
    const { tenantId } = await aTenant(url);
    const about = (...identifiers: Identifier[]) => take(node, tenantId, [aSubmission({ identifiers })]);
    expect(await about(external('jane'), email('jane@x.de'))).toEqual(['accepted']);
    const look = jest.spyOn(node.get(StoreTransaction), 'run');
    for (const identifiers of [[external('jane')], [email('jane@x.de')], [external('jane'), email('jane@x.de')]]) {
      expect(await about(...identifiers)).toEqual(['accepted']);
    }
    expect(look).not.toHaveBeenCalled();
  });

  it('is enough for a batch with a few of whom only others know, or nobody', async () => {
    const { tenantId } = await aTenant(url);
    const about = (...names: string[]) => names.map((name) => aSubmission({ identifiers: [external(name)] }));
    await take(node, tenantId, about('jane'));
    await take(forgetful, tenantId, about('john', 'joan'));
    const look = jest.spyOn(node.get(StoreTransaction), 'run');
    for (const names of [['jane', 'john'], ['john', 'jane', 'joan'], ['joan']]) {
      expect(await take(node, tenantId, about(...names))).toEqual(names.map(() => 'accepted'));
    }
    expect(await take(node, tenantId, about('jane', 'june'))).toEqual(['accepted', 'accepted']);
    expect(look).not.toHaveBeenCalled();
    const customers = 'SELECT external_id AS name FROM profiles WHERE tenant_id = $1 ORDER BY 1';
    expect(await rowsOf(url, customers, [tenantId])).toEqual(
      ['jane', 'joan', 'john', 'june'].map((name) => ({ name })),
    );
  });

  describe('nothing of a customer', () => {
    let tenantId: string;
    beforeEach(async () => {
      ({ tenantId } = await aTenant(url));
      // The kind of the events is known from then on.
      await take(node, tenantId, about('jane'));
    });

    const about = (...names: string[]) => names.map((name) => aSubmission({ identifiers: [external(name)] }));
    const customers = async () => {
      const rows = await rowsOf<{ name: string; events: number }>(
        url,
        `SELECT external_id AS name,
           (SELECT count(*)::int FROM events e WHERE e.tenant_id = p.tenant_id AND e.profile_id = p.profile_id) AS events
         FROM profiles p WHERE tenant_id = $1 AND external_id <> 'jane' ORDER BY 1`,
        [tenantId],
      );
      return rows.map(({ name, events }) => `${name} ${events}`);
    };

    it('makes it a new one, without a look at the database', async () => {
      const look = jest.spyOn(node.get(StoreTransaction), 'run');
      expect(await take(node, tenantId, about('john', 'joan', 'john'))).toEqual(Array(3).fill('accepted'));
      expect(await take(node, tenantId, about('john', 'joan'))).toEqual(Array(2).fill('accepted'));
      expect(look).not.toHaveBeenCalled();
      expect(await customers()).toEqual(['joan 2', 'john 3']);
      expect(await brokenRules(url, tenantId)).toEqual([]);
    });

    it('does not make a second one of whom another node knows', async () => {
      await take(forgetful, tenantId, about('john'));
      const look = jest.spyOn(node.get(StoreTransaction), 'run');
      expect(await take(node, tenantId, about('john', 'joan'))).toEqual(['accepted', 'accepted']);
      expect(look).toHaveBeenCalledTimes(1);
      expect(await customers()).toEqual(['joan 1', 'john 2']);
      expect(await brokenRules(url, tenantId)).toEqual([]);
    });

    it('stores one event for all copies that come to several nodes at once', async () => {
      const events = about('john', 'joan', 'june');
      const answers = await Promise.all([node, forgetful, ...nodes].map((each) => take(each, tenantId, events)));
      for (const place of events.keys()) {
        expect(answers.map((each) => each[place]).sort()).toEqual(['accepted', ...Array(3).fill('duplicate')]);
      }
      expect(await customers()).toEqual(['joan 1', 'john 1', 'june 1']);
      expect(await brokenRules(url, tenantId)).toEqual([]);
    });

    it('does not bring back an erased person, nor hold up those beside', async () => {
      await take(forgetful, tenantId, about('john'));
      expect(
        await erase(
          forgetful,
          tenantId,
          [...IDENTIFIERS.keys()].find((at) => IDENTIFIERS[at]!.value === 'john')!,
        ),
      ).toBe('erased');
      for (let time = 0; time < 2; time += 1) {
        expect(await take(node, tenantId, about('joan', 'john'))).toEqual(['accepted', 'profile_erased']);
      }
      expect(await customers()).toEqual(['joan 2']);
    });
  });

  it('is all that is asked for of a part of a batch, and each is answered in its place', async () => {
    const { tenantId } = await aTenant(url);
    const about = (who: string, fields = {}) => aSubmission({ identifiers: [external(who)], ...fields });
    await take(node, tenantId, [about('jane')]);
    const events = Array.from({ length: MANY }, () => about('jane'));
    events.splice(7, 0, about('john'), about('jane', { occurredAt: Date.now() + 2 * 86_400_000 }));
    const look = jest.spyOn(node.get(StoreTransaction), 'run');
    const before = confirmed;
    expect(await take(node, tenantId, events)).toEqual(events.map(() => 'accepted'));
    expect(confirmed).toBe(before + 1);
    expect(look.mock.calls.map(([, batch]) => batch.length)).toEqual([2]);
    const stored = await rowsOf<{ id: string }>(
      url,
      `SELECT e.external_event_id AS id FROM events e JOIN profiles p USING (tenant_id, profile_id)
       WHERE e.tenant_id = $1 AND p.external_id = 'john'`,
      [tenantId],
    );
    const [john] = events.slice(7, 8).map(({ value }) => (value as EventFields).externalEventId);
    expect(stored).toEqual([{ id: john }]);
    expect(await rowsOf(url, 'SELECT reason FROM review_entries WHERE tenant_id = $1', [tenantId])).toEqual([
      { reason: 'clock_skew' },
    ]);
    expect(await take(node, tenantId, events)).toEqual(events.map(() => 'duplicate'));
  });

  it('lets no event that is waited for overtake one that has to be looked up', async () => {
    const { tenantId } = await aTenant(url);
    await rowsOf(url, 'INSERT INTO test_concerned VALUES ($1, $2)', [tenantId, 'purchase']);
    const about = (...identifiers: Identifier[]) => aSubmission({ identifiers });
    await take(node, tenantId, [about(external('jane'))]);
    const known = Array.from({ length: MANY }, () => about(external('jane')));
    const before = confirmed;
    const sent: Submission[] = [];
    for (const events of [known.slice(0, 5), [about(external('jane'), email('new@x.de')), ...known.slice(5)]]) {
      await take(node, tenantId, events);
      sent.push(...events);
    }
    expect(confirmed).toBe(before + 1);
    const queued = await rowsOf<{ id: string }>(
      url,
      `SELECT external_event_id AS id FROM event_queue JOIN events USING (tenant_id, event_id)
       WHERE tenant_id = $1 ORDER BY queued_at, position OFFSET 1`,
      [tenantId],
    );
    expect(queued.map(({ id }) => id)).toEqual(sent.map(({ value }) => (value as EventFields).externalEventId));
  });

  describe('of a customer whom another node has parted since', () => {
    let tenantId: string;

    beforeEach(async () => {
      ({ tenantId } = await aTenant(url));
      await about([external('jane')], [email('a@x.de'), email('b@x.de')]);
      // The first makes one customer of two; the next is answered from what the second has read.
      for (let time = 0; time < 2; time += 1) await about([external('jane'), email('a@x.de')]);
      const before = confirmed;
      await about([external('jane'), email('a@x.de')]);
      expect(confirmed).toBe(before + 1);
      await undo(forgetful, tenantId, 0);
    });

    /** Takes an event about each, on the node that remembers. */
    const about = (...persons: readonly Identifier[][]) =>
      take(
        node,
        tenantId,
        persons.map((identifiers) => aSubmission({ identifiers })),
      );

    const warnings = () =>
      rowsOf(url, 'SELECT reason, occurrences FROM review_entries WHERE tenant_id = $1', [tenantId]);

    it('does not make them one', async () => {
      expect(await about([external('jane'), email('a@x.de')])).toEqual(['accepted']);
      expect(await warnings()).toEqual([{ reason: 'identity_link_refused', occurrences: 1 }]);
    });

    it('does not count where it was read at two times', async () => {
      await about([email('b@x.de')]);
      const goBy = jest.spyOn(node.get(IdentityService), 'confirmRecalled');
      expect(await about([email('b@x.de')], [external('jane'), email('a@x.de')], [email('b@x.de')])).toEqual(
        Array(3).fill('accepted'),
      );
      expect(await warnings()).toEqual([{ reason: 'identity_link_refused', occurrences: 1 }]);
      expect(goBy).not.toHaveBeenCalled();
    });
  });
});
