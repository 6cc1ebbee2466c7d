import { Injectable, type OnModuleInit } from '@nestjs/common';
import { unavailable } from '../platform/database/database-errors';
import type { Transaction } from '../platform/database/pipelined-connection';
import { newMark } from '../platform/ids/ids';
import { kindName } from '../processing/domain/event-effects';
import type { EffectResult, EventEffect, EventToProcess } from '../processing/domain/event-effects';
import { EventEffects } from '../processing/effects';
import { ledgerOf, mutationKey, type MutationOutcome, type MutationWork } from '../runtime/domain/mutation-work';
import { fingerprintOf } from '../runtime/domain/operations-fingerprint';
import { DEFAULT_APP_ID } from '../runtime/domain/state-owner';
import { MutationTransaction } from '../runtime/mutation-transaction';
import type { Declarations } from '../variables/domain/declarations';
import { VariablesService } from '../variables/variables.service';
import { recordOf, type EventRecord } from './domain/event-record';
import { failureOf, faultsOf, outcomeOf, planReaction, type Plan, type ReactionResult } from './domain/react';
import type { Reaction } from './domain/reaction';
import { declarationFaults } from './domain/reaction-operations';
import { ReactionMemory } from './reaction-memory';
import { FIND_KINDS } from './reaction.sql';

type OpenPlan = Extract<Plan, { readonly operations: unknown }>;

/** Carries reactions out, in the worker's transaction (contract section 8, docs/adr/0028). */
@Injectable()
export class EventReactions implements EventEffect, OnModuleInit {
  readonly concerned = FIND_KINDS;

  constructor(
    private readonly effects: EventEffects,
    private readonly memory: ReactionMemory,
    private readonly variables: VariablesService,
    private readonly mutations: MutationTransaction,
  ) {}

  onModuleInit(): void {
    this.effects.register(this);
  }

  /** Applies each reaction once for each event, however often it is called. Throws what may succeed later. */
  async apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]> {
    const known = await this.memory.read(
      transaction,
      events.map(({ tenantId, event: { eventType } }) => ({ tenantId, eventType })),
    );
    const plans = events.map((each): Plan[] => {
      const record = onceOf(() => recordOf(each.event));
      const reactions = known.get(kindName({ tenantId: each.tenantId, eventType: each.event.eventType })) ?? [];
      return reactions.flatMap((ready) => planReaction(ready, each, record) ?? []);
    });
    const results = await this.carryOut(transaction, events, plans);
    return plans.map((ofEvent) => {
      const settled = ofEvent.map((plan) => ({ reaction: plan.reaction, result: resultOf(plan, results) }));
      const failure = failureOf(settled.flatMap(({ reaction, result }) => faultsOf(reaction, result)));
      const reactions = settled.map(({ reaction, result }) => outcomeOf(reaction, result));
      return failure === undefined ? { reactions } : { reactions, failure };
    });
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
    const outcomes = await this.mutations.run(transaction, works);
    return new Map(open.map(({ plan }, index) => [plan, resultOfOutcome(outcomes[index])]));
  }

  /**
   * What campaigns declare, each asked once: as it is remembered, or where that does not know all of a reaction's paths, as it
   * is. A variable that was declared just before its reaction must be known.
   */
  private declarationsAsked(): (tenantId: string, reaction: Reaction) => Promise<Declarations> {
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

function resultOfOutcome(outcome: MutationOutcome | undefined): ReactionResult {
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
