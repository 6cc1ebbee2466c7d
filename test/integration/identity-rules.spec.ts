import { isDeepStrictEqual } from 'node:util';
import type { INestApplicationContext } from '@nestjs/common';
import fc from 'fast-check';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import { CustomerErasure } from '../../src/identity/customer-erasure';
import type { Identifier } from '../../src/identity/domain/identifier';
import { MergesService } from '../../src/identity/merges.service';
import type { EventFields } from '../../src/ingest/domain/event';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { DomainError } from '../../src/platform/errors/domain-error';
import { CustomerModel, keyOf, type ModelAnswer, type ModelPolicy } from '../support/customer-model';
import { databaseUrl, rowsOf } from '../support/database';
import { aCrowdedHistory, aCrowdOf, RULES_SEED, sequencesToTry, type Step } from '../support/identity-histories';
import { aCaller, aSubmission, startNode } from '../support/ingest';
import { PartedPairs } from '../support/parted-pairs';
import { brokenRules } from '../support/sound-customers';
import { aTenant } from '../support/tenant';

const FEW = 10;
/** By hand with IDENTITY_SEQUENCES=2000. */
const SEQUENCES = sequencesToTry(FEW);
const LIMIT_MS = 60_000 + SEQUENCES * 3_000;
const ENVIRONMENT = { SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
const conflicts = fc.constantFrom('link' as const, 'reject' as const);
const aFixed = (kind: Identifier['kind']): Identifier => ({ kind, value: `fixed-${kind}` });

/** A workspace of the service on two nodes that take turns, so that each has to notice what the other has done. */
class RealCustomers {
  private turn = 0;
  private readonly sent: { externalEventId: string; keptBy: string }[] = [];

  constructor(
    private readonly url: string,
    private readonly nodes: readonly INestApplicationContext[],
    private readonly tenantId: string,
  ) {}

  async take(batch: readonly (readonly Identifier[])[], asked: readonly ModelAnswer[]): Promise<ModelAnswer[]> {
    const events = batch.map((identifiers) => aSubmission({ identifiers: [...identifiers] }));
    const results = await this.next(IngestPipeline).ingest(aCaller(this.tenantId), events, 'live');
    const ids = events.map(({ value }) => (value as EventFields).externalEventId);
    const warnings = await this.rows<{ id: string; reason: string }>(
      `SELECT external_event_id AS id, reason FROM review_entries
       WHERE tenant_id = $1 AND external_event_id = ANY($2) AND severity = 'warning'`,
      ids,
    );
    return results.map((result, place): ModelAnswer => {
      if (result.status !== 'accepted')
        return { code: result.status === 'error' ? result.refusal.code : result.status } as ModelAnswer;
      const own = warnings.filter(({ id }) => id === ids[place]).map(({ reason }) => reason);
      const answer = asked[place];
      const keptBy = answer?.code === 'accepted' ? answer.keptBy : '';
      this.sent.push({ externalEventId: ids[place] ?? '', keptBy });
      return { code: 'accepted', warnings: own.sort(), keptBy };
    });
  }

  async undo(place: number): Promise<string> {
    const merges = await this.rows<{ id: string }>('SELECT id FROM profile_merges WHERE tenant_id = $1 ORDER BY id');
    const id = merges[place]?.id;
    if (id === undefined) return 'not_found';
    try {
      const first = await this.next(MergesService).undo(this.tenantId, id);
      expect(await this.next(MergesService).undo(this.tenantId, id)).toEqual(first);
      return 'undone';
    } catch (error) {
      if (error instanceof DomainError) return error.code;
      throw error;
    }
  }

  async erase(key: string): Promise<void> {
    const customer = (await this.customers()).get(key) ?? '';
    await this.next(ErasuresService).erase(aCaller(this.tenantId), customer, null);
  }

  lift(identifier: Identifier): Promise<number> {
    return this.next(CustomerErasure).lift(this.tenantId, identifier, { by: 'test', address: null });
  }

  /** By identifier, at one moment. */
  async customers(): Promise<Map<string, string>> {
    const rows = await this.rows<{ key: string; root_id: string }>(
      `SELECT i.kind || ':' || i.value AS key, p.root_id FROM profile_identifiers i JOIN profiles p USING (tenant_id, profile_id)
       WHERE i.tenant_id = $1`,
    );
    return new Map(rows.map(({ key, root_id: rootId }) => [key, rootId]));
  }

  /** Events that are not with the customer of the identifier that keeps them; those of erased persons have none. */
  async strayEvents(): Promise<string[]> {
    const customers = await this.customers();
    const rows = await this.rows<{ id: string; root_id: string; erased: boolean }>(
      `SELECT e.external_event_id AS id, p.root_id, p.erased_at IS NOT NULL AS erased
       FROM events e JOIN profiles p USING (tenant_id, profile_id) WHERE e.tenant_id = $1`,
    );
    const events = new Map(rows.map((row) => [row.id, row]));
    return this.sent.flatMap(({ externalEventId, keptBy }) => {
      const event = events.get(externalEventId);
      if (event === undefined) return [externalEventId];
      return event.erased || event.root_id === customers.get(keptBy) ? [] : [externalEventId];
    });
  }

  async brokenRules(): Promise<string[]> {
    return brokenRules(this.url, this.tenantId);
  }

  private rows<T>(text: string, ...values: unknown[]): Promise<T[]> {
    return rowsOf<T>(this.url, text, values.length === 0 ? [this.tenantId] : [this.tenantId, values]);
  }

  private next<T>(type: abstract new (...args: never[]) => T): T {
    this.turn += 1;
    return this.nodes[this.turn % this.nodes.length]!.get<T>(type);
  }
}

/** Each of its texts is one of identifiers that are one customer. */
function partitionOf(customers: ReadonlyMap<string, string>): string[] {
  const parts = new Map<string, string[]>();
  for (const [key, rootId] of customers) parts.set(rootId, [...(parts.get(rootId) ?? []), key]);
  return [...parts.values()].map((keys) => keys.sort().join(' ')).sort();
}

/** Takes a step in both; answers what became of it in each. */
async function takeStep(real: RealCustomers, model: CustomerModel, step: Step): Promise<readonly [unknown, unknown]> {
  if ('batch' in step) {
    const asked = step.batch.map((identifiers) => model.take(identifiers.map(keyOf)));
    return [await real.take(step.batch, asked), asked];
  }
  if ('undo' in step) {
    const place = step.undo % Math.max(1, model.merges.length);
    return [await real.undo(place), model.undo(place)];
  }
  if ('lift' in step) return [await real.lift(step.lift), model.lift(keyOf(step.lift))];
  const key = keyOf(step.erase);
  if (!model.identifiers.includes(key)) return [null, null];
  await real.erase(key);
  model.erase(key);
  return [null, null];
}

/** Events name `x1 m1 p1 d1`: an EXTERNAL identifier, an email, a phone, a device. Merges are numbered from 0. */
const HISTORIES: readonly (readonly [string, string])[] = [
  ['an EXTERNAL identifier comes with one side before the undo', 'd1, m1, m1 d1, x1 m1, undo 0, x1 m1, x1 d1, m1 d1'],
  ['an undo of the later merge first', 'd1, m1, m1 d1, x1, x1 m1, undo 1, undo 0, x1 d1, x1 m1, m1 d1, x1 m1 d1'],
  ['an undo of the earlier merge first', 'd1, m1, m1 d1, x1, x1 m1, undo 0, undo 1, x1 d1, x1 m1, m1 d1, x1 m1 d1'],
  ['an undo in the middle of a chain', 'm1, d1, m2, d2, m1 d1, m2 d2, m2 d1, x1 d2, undo 2, m1 d2, x1 m1, m2 d1'],
  ['an undo that is asked for twice', 'm1, d1, m1 d1, undo 0, undo 0, x1 m1, undo 0, x1 d1'],
  ['a third identifier that both sides are named with', 'm1, d1, m1 d1, undo 0, m1 p1, p1 d1, x1 p1 d1, m2 d1, m2 p1'],
  ['a later merge of one side', 'm1, d1, m1 d1, undo 0, x1, x1 m1, x1 d1, p1, p1 d1, x1 p1'],
  [
    'a merge of a customer that was merged',
    'd1, m1, m1 d1, p1, p1 d1, x1, x1 p1, undo 0, x1 d1, x1 m1, undo 2, x1 p1, m1 p1',
  ],
  [
    'an older customer that has joined a younger EXTERNAL one',
    'd1, m1, p1, m1 p1, x1 p1, m1 d1, undo 0, m1 p1, m1 d2, x1 d2, x1 d1',
  ],
  [
    'an undo, then an erasure of one side and its return',
    'm1, d1, m1 d1, undo 0, erase d1, m1 d1, lift d1, d1 p1, x1 m1, x1 p1',
  ],
  ['an erasure, then an undo', 'm1, d1, m1 d1, p1, p1 m1, undo 1, erase d1, undo 0, lift m1, m1 p1, d1 p1'],
];

const KINDS = { x: 'EXTERNAL', m: 'EMAIL', p: 'PHONE', d: 'DEVICE' } as const;
const named = (name: string): Identifier => ({ kind: KINDS[name[0] as keyof typeof KINDS], value: name });

function historyOf(text: string): Step[] {
  return text.split(', ').map((step) => {
    const [verb, name = ''] = step.split(' ');
    if (verb === 'undo') return { undo: Number(name) };
    if (verb === 'erase') return { erase: named(name) };
    return verb === 'lift' ? { lift: named(name) } : { batch: [step.split(' ').map(named)] };
  });
}

describe('customers on two nodes, through any history of events, undoings, erasures and lifts', () => {
  let url: string;
  let nodes: Record<ModelPolicy['conflict'], INestApplicationContext[]>;

  beforeAll(async () => {
    url = await databaseUrl();
    const rejecting = { ...ENVIRONMENT, IDENTITY_CONFLICT_POLICY: 'reject' };
    nodes = {
      link: [await startNode(url, ENVIRONMENT), await startNode(url, ENVIRONMENT)],
      reject: [await startNode(url, rejecting), await startNode(url, rejecting)],
    };
  });

  afterAll(async () => {
    for (const node of [...nodes.link, ...nodes.reject]) await node.close();
  });

  async function tryHistory(steps: readonly Step[], conflict: ModelPolicy['conflict']): Promise<PartedPairs> {
    const { tenantId } = await aTenant(url);
    const real = new RealCustomers(url, nodes[conflict], tenantId);
    const [model, pairs] = [new CustomerModel({ conflict, identifiersPerKindMax: 50 }), new PartedPairs()];
    for (const step of steps) {
      const [answers, asked] = await takeStep(real, model, step);
      const customers = await real.customers();
      pairs.observe(customers);
      const found = { answers, partition: partitionOf(customers), metAgain: pairs.metAgain };
      const right = { answers: asked, partition: model.partition(), metAgain: [] };
      if (!isDeepStrictEqual(found, right)) expect(found).toEqual(right);
    }
    expect(await real.brokenRules()).toEqual([]);
    expect(await real.strayEvents()).toEqual([]);
    return pairs;
  }

  it(
    'are those of the rules on identifiers alone, and nobody who was parted meets again',
    async () => {
      let [histories, steps, parted] = [0, 0, 0];
      const history = fc.asyncProperty(aCrowdedHistory, conflicts, async (taken, conflict) => {
        parted += (await tryHistory(taken, conflict)).parted;
        histories += 1;
        steps += taken.length;
      });
      // Shrinking takes longer than looking at what was found.
      await fc.assert(history, { numRuns: SEQUENCES, endOnFailure: true, ...RULES_SEED });
      expect(parted).toBeGreaterThan(0);
      if (SEQUENCES > FEW) process.stdout.write(`${histories} histories, ${steps} steps, ${parted} pairs parted.\n`);
    },
    LIMIT_MS,
  );

  it.each(HISTORIES)('%s', async (_name, text) => {
    expect((await tryHistory(historyOf(text), 'link')).parted).toBeGreaterThan(0);
  });

  it.each(['link', 'reject'] as const)(
    'are refused a link for having been parted, also where there is no room for it: %s',
    async (conflict) => {
      const [mail, device] = [aFixed('EMAIL'), aFixed('DEVICE')];
      const pairs = await tryHistory(
        [
          ...[[mail], [device], [mail, device]].map((identifiers) => ({ batch: [identifiers] })),
          { undo: 0 },
          ...[aCrowdOf(mail, 0), aCrowdOf(device, 1)].map((batch) => ({ batch })),
          { batch: [[aFixed('EXTERNAL'), mail, device]] },
          { batch: [[mail, device]] },
        ],
        conflict,
      );
      expect(pairs.parted).toBe(1);
    },
  );
});
