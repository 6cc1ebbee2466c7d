import { Injectable, type OnModuleInit } from '@nestjs/common';
import { unavailable } from '../platform/errors/unavailable';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { newMark } from '../platform/values/ids';
import { PersonalProperties } from '../platform/privacy/personal-properties';
import { type EffectResult, type EventEffect, type EventToProcess, kindName } from '../processing/domain/event-effects';
import { EventEffects } from '../processing/effects';
import {
  fingerprintOf,
  ledgerOf,
  mutationKey,
  type MutationResult,
  type MutationWork,
} from '../runtime/domain/mutation-work';
import { DEFAULT_APP_ID } from '../runtime/domain/state-owner';
import { MutationStore } from '../runtime/mutation-store';
import type { Declarations } from '../variables/domain/declarations';
import { VariablesService } from '../variables/variables.service';
import { recordOf, type EventRecord } from './domain/event-record';
import {
  failureOfFaults,
  faultsOfReaction,
  isSameName,
  outcomeOf,
  outOfForceRecords,
  planReaction,
  keptRecords,
  type Plan,
  type ReactionResult,
} from './domain/react';
import type { PersonalNames } from './domain/personal-data';
import type { ReactionRule } from './domain/reaction';
import { declarationFaults } from './domain/reaction-operations';
import { EvaluationTime } from './evaluation-time';
import { ReactionMemory } from './reaction-memory';
import { FIND_KINDS } from './reaction.sql';

type KnownReactions = Awaited<ReturnType<ReactionMemory['read']>>;
type OpenPlan = Extract<Plan, { readonly operations: unknown }>;

/** Carries reactions out, in the worker's transaction (contract section 8, docs/adr/0028). */
@Injectable()
export class EventReactions implements EventEffect, OnModuleInit {
  readonly concerned = FIND_KINDS;

  constructor(
    private readonly effects: EventEffects,
    private readonly memory: ReactionMemory,
    private readonly variables: VariablesService,
    private readonly mutations: MutationStore,
    private readonly personal: PersonalProperties,
  ) {}

  onModuleInit(): void {
    this.effects.register(this);
  }

  /**
   * Applies each reaction once for each event: what the event's record says was applied is not looked at again. Throws what may
   * succeed later.
   */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    const known = await this.memory.read(
      transaction,
      events.map(({ tenantId, event: { eventType } }) => ({ tenantId, eventType })),
    );
    const plans = await this.planAll(events, known);
    const reached = events.slice(0, plans.length);
    const results = await this.carryOut(transaction, reached, plans);
    return reached.map((event, index) => {
      const ofEvent = plans[index] ?? [];
      const settled = ofEvent.map((plan) => ({ reaction: plan.reaction, result: resultOf(plan, results) }));
      const failure = failureOfFaults(settled.flatMap(({ reaction, result }) => faultsOfReaction(reaction, result)));
      const reactions = [
        ...keptRecords(event),
        ...outOfForceRecords(
          event,
          settled.map(({ reaction }) => reaction),
        ),
        ...settled.map(({ reaction, result }) => outcomeOf(reaction, result)),
      ];
      if (failure === undefined) return { reactions };
      return isAnyToRetry(ofEvent) ? { reactions: [], failure, mayRetry: true } : { reactions, failure };
    });
  }

  /** For the events up to one that is to be tried again, or until it has taken long enough. */
  private async planAll(
    events: readonly EventToProcess[],
    known: KnownReactions,
  ): Promise<readonly (readonly Plan[])[]> {
    const names = await this.personalNamesFor(events, known);
    const time = new EvaluationTime();
    const plans: Plan[][] = [];
    for (const each of events) {
      const asking = { record: onceOf(() => recordOf(each.event)), personalNames: names.get(kindOf(each)) };
      const ofEvent: Plan[] = [];
      const standing = keptRecords(each);
      time.beginEvent();
      for (const ready of known.get(kindOf(each)) ?? []) {
        if (standing.some((record) => isSameName(record, ready.reaction))) continue;
        const plan = time.measure((isOverdue) => planReaction(ready, each, { ...asking, isOverdue }));
        if (plan !== undefined) ofEvent.push(plan);
        if (time.isHeldLong()) await time.share();
        if (isAnyToRetry(ofEvent)) break;
      }
      plans.push(ofEvent);
      if (isAnyToRetry(ofEvent) || time.isUsedUp()) break;
    }
    return plans.map(retriedAsAWhole);
  }

  /** By kind of event, what has become personal since reactions were defined (docs/adr/0035); only where one might copy it. */
  private async personalNamesFor(
    events: readonly EventToProcess[],
    known: KnownReactions,
  ): Promise<ReadonlyMap<string, PersonalNames>> {
    const names = new Map<string, PersonalNames>();
    for (const each of events) {
      const kind = kindOf(each);
      if (names.has(kind) || !(known.get(kind) ?? []).some(({ sharedCopies }) => sharedCopies !== undefined)) continue;
      names.set(kind, await this.personal.namesOf(each.tenantId, each.event.eventType));
    }
    return names;
  }

  /** All in one go, in the order of the events: rows are locked in one order, and each once. */
  private async carryOut(
    transaction: Transaction,
    events: readonly EventToProcess[],
    plans: readonly (readonly Plan[])[],
  ): Promise<ReadonlyMap<Plan, ReactionResult>> {
    const open = plans.flatMap((ofEvent, index) => {
      const event = events[index];
      return event === undefined ? [] : ofEvent.filter(isOpen).map((plan) => ({ plan, event }));
    });
    if (open.length === 0) return new Map();
    const declarations = this.declarationsAsked();
    const works: MutationWork[] = [];
    for (const { plan, event } of open) {
      works.push(workOf(plan, event, await declarations(event.tenantId, plan.reaction)));
    }
    const outcomes = await this.mutations.applyWithin(transaction, works);
    return new Map(open.map(({ plan }, index) => [plan, resultOfOutcome(outcomes[index])]));
  }

  /**
   * What campaigns declare, each asked once: as it is remembered, or where that does not know all of a reaction's paths, as it
   * is. A variable that was declared just before its reaction must be known.
   */
  private declarationsAsked(): (tenantId: string, reaction: ReactionRule) => Promise<Declarations> {
    const now = new Map<string, Declarations>();
    return async (tenantId, { campaignId, ops }) => {
      const key = `${tenantId}/${campaignId}`;
      const asked = now.get(key);
      if (asked !== undefined) return asked;
      const remembered = await this.variables.declarationsOf(tenantId, campaignId);
      if (declarationFaults(ops, remembered).length === 0) return remembered;
      const fresh = await this.variables.declarationsNow(tenantId, campaignId);
      now.set(key, fresh);
      return fresh;
    };
  }
}

function kindOf({ tenantId, event: { eventType } }: EventToProcess): string {
  return kindName({ tenantId, eventType });
}

/** Only the last one can be: nothing is planned behind it. */
function isAnyToRetry(plans: readonly Plan[]): boolean {
  const last = plans.at(-1);
  return last !== undefined && 'result' in last && last.result.outcome === 'failed' && last.result.mayRetry === true;
}

/** What was planned before is planned again with the next attempt, so that the reactions to an event keep their order. */
function retriedAsAWhole(plans: readonly Plan[]): readonly Plan[] {
  return isAnyToRetry(plans) ? plans.slice(-1) : plans;
}

function isOpen(plan: Plan): plan is OpenPlan {
  return 'operations' in plan;
}

function workOf(
  { reaction, operations, subject }: OpenPlan,
  of: EventToProcess,
  declarations: Declarations,
): MutationWork {
  const { tenantId, event } = of;
  const { campaignId } = reaction;
  return {
    ...{ workId: newMark(), tenantId, operations, declarations, sessionId: null },
    owner: { campaignId, appId: DEFAULT_APP_ID, subject: subject ?? '' },
    // Not the customer's: whose an event is changes with every merge, and a repetition has to find what was done before.
    ...(subject === null ? { ledger: ledgerOf(campaignId, event.eventId) } : {}),
    mutationKey: mutationKey('reaction', `${event.eventId}:${reaction.id}`),
    // Of values that a person sent, nothing may stay in a ledger, not even a hash.
    fingerprint: fingerprintOf(subject === null ? [] : operations),
  };
}

function resultOf(plan: Plan, results: ReadonlyMap<Plan, ReactionResult>): ReactionResult {
  const result = 'result' in plan ? plan.result : results.get(plan);
  if (result === undefined) throw new Error('A reaction was left without a result');
  return result;
}

function resultOfOutcome(outcome: MutationResult | undefined): ReactionResult {
  switch (outcome?.status) {
    case 'applied':
    case 'duplicate':
      return { outcome: 'applied' };
    case 'refused':
      return { outcome: 'failed', faults: outcome.refusal.extras.details ?? [] };
    default:
      throw unavailable();
  }
}

function onceOf(make: () => EventRecord): () => EventRecord {
  let made: EventRecord | undefined;
  return () => (made ??= make());
}
