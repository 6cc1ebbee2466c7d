import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { CustomerModel, keyOf, type ModelAnswer } from '../../../test/support/customer-model';
import { aHistory, RULES_SEED, sequencesToTry, type Step } from '../../../test/support/identity-histories';
import { IdentityStore } from '../../../test/support/identity-model';
import { PartedPairs } from '../../../test/support/parted-pairs';
import type { Identifier } from './identifier';
import { planIdentity, type IdentityClaim, type IdentityPolicy, type Resolution } from './resolve-profile';

/** Some thousand steps a second; IDENTITY_SEQUENCES=100000 runs more of them. */
const RUNS = { numRuns: sequencesToTry(400), ...RULES_SEED };
const LIMIT_MS = 60_000 + RUNS.numRuns * 50;
const policies = fc.record({
  conflict: fc.constantFrom('link' as const, 'reject' as const),
  identifiersPerKindMax: fc.constantFrom(1, 2, 3, 50),
});

/** The service without a database: `planIdentity` plans, and `IdentityStore` stores. */
class Planned {
  readonly store = new IdentityStore();
  private events = 0;

  constructor(private readonly policy: IdentityPolicy) {}

  take(batch: readonly (readonly Identifier[])[]): readonly Resolution[] {
    const claims = batch.map((identifiers): IdentityClaim => {
      this.events += 1;
      const newProfileId = `p${String(this.events).padStart(5, '0')}`;
      return { identifiers, at: this.events, newProfileId, eventId: `e${this.events}` };
    });
    const plan = planIdentity(claims, this.store.read(claims), this.policy);
    this.store.write(plan);
    return plan.resolutions;
  }

  customers(): Map<string, string> {
    return new Map([...this.store.identifiers].map(([key, profileId]) => [key, this.store.rootOf(profileId)]));
  }

  answerOf(resolution: Resolution | undefined, asked: ModelAnswer): unknown {
    if (resolution?.outcome !== 'resolved') return { code: resolution?.outcome };
    const keptBy = asked.code === 'accepted' ? asked.keptBy : '';
    const isKept = this.store.identifiers.get(keptBy) === resolution.profileId;
    return { code: 'accepted', warnings: resolution.warnings.toSorted(), keptBy: isKept ? keptBy : 'another' };
  }
}

/** Takes a step in both; returns the result of each. */
function takeStep(planned: Planned, model: CustomerModel, step: Step): readonly [unknown, unknown] {
  if ('batch' in step) {
    const asked = step.batch.map((identifiers) => model.take(identifiers.map(keyOf)));
    const resolutions = planned.take(step.batch);
    return [asked.map((answer, place) => planned.answerOf(resolutions[place], answer)), asked];
  }
  if ('undo' in step) {
    const place = step.undo % Math.max(1, model.merges.length);
    model.undo(place);
    planned.store.undo(place);
    return [null, null];
  }
  const key = keyOf('erase' in step ? step.erase : step.lift);
  if ('lift' in step) return [planned.store.lift(key), model.lift(key)];
  if (model.identifiers.includes(key)) planned.store.forget(key);
  if (model.identifiers.includes(key)) model.erase(key);
  return [null, null];
}

function tryHistory(history: readonly Step[], policy: IdentityPolicy): PartedPairs {
  const [planned, model, pairs] = [new Planned(policy), new CustomerModel(policy), new PartedPairs()];
  for (const step of history) {
    const [real, wanted] = takeStep(planned, model, step);
    pairs.observe(planned.customers());
    // One comparison for all: each `expect` takes longer than the step.
    const [found, right] = [
      {
        answers: real,
        partition: planned.store.partition(),
        metAgain: pairs.metAgain,
        miscounted: miscounted(planned.store),
      },
      { answers: wanted, partition: model.partition(), metAgain: [], miscounted: [] },
    ];
    if (!isDeepStrictEqual(found, right)) expect(found).toEqual(right);
  }
  // The merges in force are a forest: their number is the number of profiles minus the number of customers.
  const inForce = planned.store.merges.filter(({ sides }) => sides === null).length;
  const customers = new Set([...planned.store.profiles.keys()].map((id) => planned.store.rootOf(id))).size;
  expect(inForce).toBe(planned.store.profiles.size - customers);
  return pairs;
}

/** Roots whose rows have a wrong number of identifiers, or a wrong EXTERNAL identifier. */
function miscounted(store: IdentityStore): string[] {
  return [...store.profiles].flatMap(([id, { rootId, externalId }]) => {
    const [has, says] = [
      [store.recount(id), store.externalOf(id)],
      [store.counts.get(id), externalId],
    ];
    return rootId !== id || isDeepStrictEqual(has, says) ? [] : [id];
  });
}

describe('customers, after any history of events, undos, erasures and lifts', () => {
  it(
    'follow from the rules on identifiers alone, and separated ones never merge again',
    () => {
      let parted = 0;
      fc.assert(
        fc.property(aHistory, policies, (history, policy) => {
          parted += tryHistory(history, policy).parted;
        }),
        RUNS,
      );
      expect(parted).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );

  it('keep a device separated from an email, and from customers that merged with that email', () => {
    const one = (text: string): Identifier =>
      ({ x: { kind: 'EXTERNAL', value: text }, m: { kind: 'EMAIL', value: text }, d: { kind: 'DEVICE', value: text } })[
        text[0] as 'x' | 'm' | 'd'
      ] as Identifier;
    const event = (names: string): Step => ({ batch: [names.split(' ').map(one)] });
    const merged = ['d1', 'm1', 'm1 d1', 'x1 m1'].map(event);
    tryHistory([...merged, { undo: 0 }, event('x1 m1'), event('x1 d1')], {
      conflict: 'link',
      identifiersPerKindMax: 50,
    });
  });
});
