import type { EventOutcome, SentEvent } from '../oracle/events';
import type { ErasedPerson } from '../oracle/customers';
import type { MutationOutcome, SentMutation } from '../oracle/mutations';
import type { World } from './world';

export interface EventRecord extends SentEvent {
  readonly world: World;
  readonly family: 'external' | 'cdp';
  /** As it is sent, each time. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly outcomes: EventOutcome[];
  /** The participant whom a reaction to it concerns, where there is one. */
  readonly reactsFor?: string;
}

export interface MutationRecord extends SentMutation {
  readonly world: World;
  readonly token: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly outcomes: MutationOutcome[];
}

/** Somebody whose erasure was asked for; a client asks until it is confirmed. */
export interface ErasureRecord extends ErasedPerson {
  readonly world: World;
  readonly profileId: string;
  isConfirmed: boolean;
}

/** Everything that the clients of one experiment have sent and heard. */
export interface Journal {
  readonly events: EventRecord[];
  readonly mutations: MutationRecord[];
  readonly erasures: ErasureRecord[];
  requests: number;
  /** Of them, those without a whole answer, and 503. */
  failures: number;
  undone: number;
  slowestMs: number;
  /** What no fault excuses: a status that is none of the documented ones, a hang. */
  readonly misbehaviour: string[];
}

export function newJournal(): Journal {
  return {
    events: [],
    mutations: [],
    erasures: [],
    requests: 0,
    failures: 0,
    undone: 0,
    slowestMs: 0,
    misbehaviour: [],
  };
}

/** Acknowledged events and mutations: how far the load has got. */
export function acknowledged({ events, mutations }: Journal): number {
  return counted(events, 'accepted') + counted(mutations, 'applied');
}

export function counted(records: readonly { readonly outcomes: readonly { readonly kind: string }[] }[], kind: string) {
  return records.reduce((sum, { outcomes }) => sum + outcomes.filter((outcome) => outcome.kind === kind).length, 0);
}
