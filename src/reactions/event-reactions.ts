import { Injectable, type OnModuleInit } from '@nestjs/common';
import { unavailable } from '../platform/errors/unavailable';
import { kindName } from '../ingest/domain/event';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { PersonalProperties } from '../platform/privacy/personal-properties';
import type {
  EffectFailure,
  EffectPlan,
  EffectResult,
  EventEffect,
  EventToProcess,
} from '../processing/domain/event-effects';
import { EventEffects } from '../processing/effects';
import type { MutationResult, MutationWork } from '../runtime/domain/mutation-work';
import { DEFAULT_APP_ID } from '../runtime/domain/state-owner';
import { MutationStore } from '../runtime/mutation-store';
import type { Declarations } from '../variables/domain/declarations';
import { VariablesService } from '../variables/variables.service';
import { BackfillMarks } from './backfill/backfill-marks';
import { recordOf, type EventRecord } from './domain/event-record';
import {
  backfilledAtOf,
  failureOfFaults,
  faultsOfReaction,
  isSameName,
  outcomeOf,
  notInForceRecords,
  planReaction,
  finalRecords,
  isAnyToRetry,
  isMutationPlan,
  retriedAsAWhole,
  type CompiledReaction,
  type MutationPlan,
  type Plan,
  type ReactionResult,
} from './domain/react';
import type { PersonalNames } from './domain/personal-data';
import type { ReactionRule } from './domain/reaction';
import { declarationFaults } from './domain/reaction-operations';
import { EvaluationTime } from './evaluation-time';
import { ReactionCache } from './reaction-cache';
import { FIND_KINDS } from './reaction.sql';

/** Of one call; later events wait for the next one. They are applied in one go, some 15 µs each. */
const OPERATIONS_MAX = 1_000;

type KnownReactions = Awaited<ReturnType<ReactionCache['read']>>['rules'];

/** Applies reactions to events, in the worker's transaction (contract section 8, docs/adr/0028). */
@Injectable()
export class EventReactions implements EventEffect, OnModuleInit {
  readonly concerned = FIND_KINDS;

  constructor(
    private readonly effects: EventEffects,
    private readonly cache: ReactionCache,
    private readonly variables: VariablesService,
    private readonly mutations: MutationStore,
    private readonly personal: PersonalProperties,
    private readonly backfillMarks: BackfillMarks,
  ) {}

  onModuleInit(): void {
    this.effects.register(this);
  }

  /** Plans each reaction once for each event: one that is recorded as applied is not evaluated again. */
  async plan(transaction: Transaction, events: readonly EventToProcess[]): Promise<EffectPlan> {
    const known = await this.cache.read(
      transaction,
      events.map(({ tenantId, event: { eventType } }) => ({ tenantId, eventType })),
    );
    const plans = await this.planAll(events.slice(0, known.count), known.rules);
    const retry = failureToRetry(plans.at(-1) ?? []);
    return {
      count: retry === undefined ? plans.length : plans.length - 1,
      ...(retry === undefined ? {} : { retry }),
      apply: (count) => this.apply(transaction, events.slice(0, count), plans.slice(0, count)),
    };
  }

  private async apply(
    transaction: Transaction,
    events: readonly EventToProcess[],
    plans: readonly (readonly Plan[])[],
  ): Promise<readonly EffectResult[]> {
    const results = await this.applyPlans(transaction, events, plans);
    this.backfillMarks.add(
      transaction,
      events.flatMap(({ tenantId, event }, index) =>
        (plans[index] ?? [])
          .filter((plan) => resultOf(plan, results).outcome === 'applied')
          .map(({ reaction }) => ({ tenantId, event, reaction })),
      ),
    );
    return events.map((event, index) => {
      const done = (plans[index] ?? []).map((plan) => ({ reaction: plan.reaction, result: resultOf(plan, results) }));
      const failure = failureOfFaults(done.flatMap(({ reaction, result }) => faultsOfReaction(reaction, result)));
      const reactions = [
        ...finalRecords(event),
        ...notInForceRecords(
          event,
          done.map(({ reaction }) => reaction),
        ),
        ...done.map(({ reaction, result }) => outcomeOf(reaction, result, backfilledAtOf(reaction, event))),
      ];
      return failure === undefined ? { reactions } : { reactions, failure };
    });
  }

  /**
   * Plans one reaction for events of its type, for a backfill (docs/adr/0066). The order, the end and the time are as
   * for `plan`. Undefined: the reaction does not apply to the event. What is recorded of it is not looked at.
   */
  async planOne(compiled: CompiledReaction, events: readonly EventToProcess[]): Promise<readonly (Plan | undefined)[]> {
    const [first] = events;
    if (first === undefined) return [];
    const unmet = events.map((event) => ({ ...event, recorded: [] }));
    const plans = await this.planAll(unmet, new Map([[kindOf(first), [compiled]]]));
    return plans.map(([plan]) => plan);
  }

  /** Carries out such plans, in the order of their events. */
  async applyOne(
    transaction: Transaction,
    events: readonly EventToProcess[],
    plans: readonly (Plan | undefined)[],
  ): Promise<readonly (ReactionResult | undefined)[]> {
    const ofEvents = plans.map((plan) => (plan === undefined ? [] : [plan]));
    const results = await this.applyPlans(transaction, events, ofEvents);
    return plans.map((plan) => (plan === undefined ? undefined : resultOf(plan, results)));
  }

  /**
   * Plans for the events in order. Stops after one that must be retried, or when the time or the operations are used up.
   */
  private async planAll(
    events: readonly EventToProcess[],
    known: KnownReactions,
  ): Promise<readonly (readonly Plan[])[]> {
    const names = await this.personalNamesFor(events, known);
    const time = new EvaluationTime();
    const plans: Plan[][] = [];
    let operations = 0;
    for (const each of events) {
      const input = { record: onceOf(() => recordOf(each.event)), personalNames: names.get(kindOf(each)) };
      const ofEvent: Plan[] = [];
      const final = finalRecords(each);
      time.beginEvent();
      for (const compiled of known.get(kindOf(each)) ?? []) {
        if (final.some((record) => isSameName(record, compiled.reaction))) continue;
        const plan = time.measure((isOverdue) => planReaction(compiled, each, { ...input, isOverdue }));
        if (plan !== undefined) ofEvent.push(plan);
        if (time.isBlockedLong()) await time.release();
        if (isAnyToRetry(ofEvent)) break;
      }
      plans.push(ofEvent);
      operations += ofEvent.reduce((sum, plan) => sum + (isMutationPlan(plan) ? plan.operations.length : 0), 0);
      if (isAnyToRetry(ofEvent) || time.isUsedUp() || operations >= OPERATIONS_MAX) break;
    }
    return plans.map(retriedAsAWhole);
  }

  /**
   * The personal properties by kind of event (docs/adr/0035), for kinds with a reaction that might copy one to shared
   * values.
   */
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

  /** Applies all plans in one call: each row is locked once, in one order. */
  private async applyPlans(
    transaction: Transaction,
    events: readonly EventToProcess[],
    plans: readonly (readonly Plan[])[],
  ): Promise<ReadonlyMap<Plan, ReactionResult>> {
    const withMutation = plans.flatMap((ofEvent, index) => {
      const event = events[index];
      return event === undefined ? [] : ofEvent.filter(isMutationPlan).map((plan) => ({ plan, event }));
    });
    if (withMutation.length === 0) return new Map();
    const declarations = this.declarationsReader();
    const works: MutationWork[] = [];
    for (const { plan, event } of withMutation) {
      works.push(workOf(plan, event, await declarations(event.tenantId, plan.reaction)));
    }
    const outcomes = await this.mutations.applyWithin(transaction, works);
    return new Map(withMutation.map(({ plan }, index) => [plan, resultOfMutation(outcomes[index])]));
  }

  /**
   * Reads the declarations of campaigns: cached ones, or current ones (once for each campaign) if a reaction does not
   * fit the cached ones. A variable that was declared just before its reaction must be found. Each reaction is compared
   * once, however many events it meets.
   */
  private declarationsReader(): (tenantId: string, reaction: ReactionRule) => Promise<Declarations> {
    const ofReactions = new Map<ReactionRule, Declarations>();
    const current = new Map<string, Declarations>();
    return async (tenantId, reaction) => {
      const { campaignId, ops } = reaction;
      const key = `${tenantId}/${campaignId}`;
      const known = ofReactions.get(reaction) ?? current.get(key);
      if (known !== undefined) return known;
      const cached = await this.variables.declarationsOf(tenantId, campaignId);
      const isOutdated = declarationFaults(ops, cached).length > 0;
      const found = isOutdated ? await this.variables.declarationsNow(tenantId, campaignId) : cached;
      if (isOutdated) current.set(key, found);
      ofReactions.set(reaction, found);
      return found;
    };
  }
}

function kindOf({ tenantId, event: { eventType } }: EventToProcess): string {
  return kindName({ tenantId, eventType });
}

function workOf(
  { reaction, operations, subject }: MutationPlan,
  of: EventToProcess,
  declarations: Declarations,
): MutationWork {
  const { tenantId, event } = of;
  const { campaignId } = reaction;
  return {
    tenantId,
    operations,
    declarations,
    sessionId: null,
    owner: { campaignId, appId: DEFAULT_APP_ID, subject: subject ?? '' },
    // The event's own record says that the reaction was applied, and is written in the same transaction.
    identity: null,
    cause: {
      kind: backfilledAtOf(reaction, of) === undefined ? 'reaction' : 'backfill',
      campaignId,
      reaction: reaction.name,
      eventId: event.eventId,
    },
  };
}

/** Why an event must be tried again; undefined: it need not be. Its only plan then is the one that took too long. */
function failureToRetry(ofEvent: readonly Plan[]): EffectFailure | undefined {
  if (!isAnyToRetry(ofEvent)) return undefined;
  return failureOfFaults(
    ofEvent.flatMap((plan) => ('result' in plan ? faultsOfReaction(plan.reaction, plan.result) : [])),
  );
}

function resultOf(plan: Plan, results: ReadonlyMap<Plan, ReactionResult>): ReactionResult {
  const result = 'result' in plan ? plan.result : results.get(plan);
  if (result === undefined) throw new Error('A reaction has no result');
  return result;
}

function resultOfMutation(outcome: MutationResult | undefined): ReactionResult {
  if (outcome === undefined) throw unavailable();
  switch (outcome.status) {
    case 'applied':
      return outcome.isClamped ? { outcome: 'applied', reason: 'clamped' } : { outcome: 'applied' };
    case 'duplicate':
      return { outcome: 'applied' };
    case 'refused':
      if (outcome.refusal.code === 'limit_reached') return { outcome: 'skipped', reason: 'limit_reached' };
      return { outcome: 'failed', faults: outcome.refusal.extras.details ?? [] };
    case 'unavailable':
      throw unavailable();
  }
}

function onceOf(make: () => EventRecord): () => EventRecord {
  let made: EventRecord | undefined;
  return () => (made ??= make());
}
