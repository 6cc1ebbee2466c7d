import fc from 'fast-check';
import type { Identifier } from '../../src/identity/domain/identifier';

/** What happens to a workspace: events that come in together, or something that people do. */
export type Step =
  | { readonly batch: readonly (readonly Identifier[])[] }
  /** Of all merges so far the one with this place, counted around. */
  | { readonly undo: number }
  /** The customer with this identifier. */
  | { readonly erase: Identifier }
  | { readonly lift: Identifier };

/** Few, so that everybody meets everybody else. */
const OF_A_KIND = { EXTERNAL: 3, EMAIL: 4, PHONE: 3, DEVICE: 4 } as const;

const identifier = (kind: Identifier['kind'], n: number): Identifier => ({ kind, value: `${kind.toLowerCase()}-${n}` });

const everyIdentifier: readonly Identifier[] = Object.entries(OF_A_KIND).flatMap(([kind, count]) =>
  Array.from({ length: count }, (_unused, n) => identifier(kind as Identifier['kind'], n)),
);

/** At most one of a kind, the strongest first, as the CDP family names them. */
const someone: fc.Arbitrary<Identifier[]> = fc
  .tuple(
    ...Object.entries(OF_A_KIND).map(([kind, count]) =>
      fc.option(
        fc.nat({ max: count - 1 }).map((n) => identifier(kind as Identifier['kind'], n)),
        { freq: kind === 'EXTERNAL' ? 1 : 2 },
      ),
    ),
  )
  .map((parts) => parts.filter((part) => part !== null))
  .filter((parts) => parts.length > 0);

const aStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ batch: fc.array(someone, { minLength: 1, maxLength: 3 }) }) },
  { weight: 6, arbitrary: fc.record({ undo: fc.nat({ max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ erase: fc.constantFrom(...everyIdentifier) }) },
  { weight: 1, arbitrary: fc.record({ lift: fc.constantFrom(...everyIdentifier) }) },
);

/** One of them is within the limit of 50, two are beyond it. */
const CROWD = 26;

/** Events that give one customer many phones. */
export function aCrowdOf(who: Identifier, crowd: number): Identifier[][] {
  return Array.from({ length: CROWD }, (_unused, n) => {
    const phone: Identifier = { kind: 'PHONE', value: `crowd-${crowd}-${n}` };
    return who.kind === 'DEVICE' ? [phone, who] : [who, phone];
  });
}

const aCrowd: fc.Arbitrary<Step> = fc
  .record({
    who: fc.constantFrom(...everyIdentifier.filter(({ kind }) => kind !== 'PHONE')),
    crowd: fc.nat({ max: 2 }),
  })
  .map(({ who, crowd }) => ({ batch: aCrowdOf(who, crowd) }));

export const aHistory: fc.Arbitrary<Step[]> = fc.array(aStep, { maxLength: 40, size: 'max' });

/** Where the limit is 50 identifiers of a kind, it takes crowds to get there. */
export const aCrowdedHistory: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof({ weight: 12, arbitrary: aStep }, { weight: 1, arbitrary: aCrowd }),
  { maxLength: 40, size: 'max' },
);

/** How many histories a test tries: as many as it says, or, by hand, IDENTITY_SEQUENCES. */
export function sequencesToTry(few: number): number {
  return Number(process.env['IDENTITY_SEQUENCES'] ?? few);
}

/** Of a round that found something; without it every round tries others. */
export const RULES_SEED =
  process.env['IDENTITY_SEED'] === undefined ? {} : { seed: Number(process.env['IDENTITY_SEED']) };
