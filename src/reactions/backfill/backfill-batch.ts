import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/domain-error';
import { isPassing, LostRaceError } from '../../platform/group-commit/persist-batch';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { Clock } from '../../platform/values/clock';
import type { EffectFailure, EventToProcess } from '../../processing/domain/event-effects';
import { failureOf } from '../../processing/effect-errors';
import { bisect, withinSavepoint } from '../../processing/effect-scope';
import {
  DequeuedEvents,
  type DequeuedEntry,
  type DequeuedEvent,
  type DequeuedResult,
} from '../../processing/dequeued-events';
import type { Operation } from '../../runtime/domain/operation';
import type { Declarations } from '../../variables/domain/declarations';
import { VariablesService } from '../../variables/variables.service';
import {
  failureOfFaults,
  faultsOfReaction,
  isInForceFor,
  isMutationPlan,
  isSameName,
  outcomeOf,
  type CompiledReaction,
  type Plan,
  type ReactionResult,
} from '../domain/react';
import { declarationFaults } from '../domain/reaction-operations';
import { EventReactions } from '../event-reactions';
import { BackfillMarks } from './backfill-marks';
import type { RunningBackfill } from './backfill-progress';
import {
  addCounts,
  addSums,
  mayBackfill,
  withoutEarlierPeriods,
  withoutSuperseded,
  type BackfillCounts,
  type EventOutcome,
  type LaterSets,
  type VariableSum,
} from './domain/backfill';

/** After so many attempts an event fails whose condition took too long each time. */
const ATTEMPTS_MAX = 5;

export interface BackfillBatchResult {
  /** How many of the events are done, the first ones; the next step takes the others. */
  readonly count: number;
  readonly progress: BackfillCounts & { readonly sums: readonly VariableSum[]; readonly attempts: number };
}

/** An event that the reaction comes to, with what it does there. */
interface Planned {
  readonly entry: DequeuedEntry;
  readonly plan: Plan | undefined;
}

/** `failure`: the changes could not be stored, because of this event. */
interface Tried extends Planned {
  readonly result: ReactionResult | undefined;
  readonly failure?: EffectFailure;
}

/** Applies the reaction of a backfill to some events, in their order, in the transaction of a step. */
@Injectable()
export class BackfillBatch {
  constructor(
    private readonly dequeued: DequeuedEvents,
    private readonly reactions: EventReactions,
    private readonly marks: BackfillMarks,
    private readonly variables: VariablesService,
    private readonly clock: Clock,
  ) {}

  /**
   * Events that the reaction has come to before stay as they are: the record of each event is locked and read first.
   * Throws `LostRaceError` if the caller must repeat the transaction.
   */
  async run(
    transaction: Transaction,
    backfill: RunningBackfill,
    compiled: CompiledReaction,
    events: readonly DequeuedEvent[],
  ): Promise<BackfillBatchResult> {
    const held = await this.dequeued.hold(transaction, backfill.tenantId, events, backfill.scanned);
    const candidates = held.entries.filter((entry) => mayComeTo(entry, compiled));
    const declarations = await this.variables.declarationsNow(backfill.tenantId, backfill.campaignId);
    const { planned, attempts } = await this.plan(backfill, compiled, candidates, declarations);
    const next = candidates[planned.length];
    const count = next === undefined ? held.count : events.findIndex(({ eventId }) => eventId === next.eventId);
    const tried = backfill.isDryRun
      ? planned.map((each) => rehearsed(each, declarations))
      : await this.apply(transaction, backfill, planned);
    if (!backfill.isDryRun) {
      this.assertSamePeriods(planned, declarations);
      await this.record(transaction, backfill, compiled, tried);
    }
    const untouched: EventOutcome[] = Array.from({ length: count - tried.length }, () => undefined);
    const sums = backfill.isDryRun
      ? inOrder(addSums(backfill.sums, tried.flatMap(appliedOperations)), compiled)
      : backfill.sums;
    const outcomes = [...tried.map(({ result }) => result), ...untouched];
    return { count, progress: { ...addCounts(backfill, outcomes), sums, attempts } };
  }

  /** Without the events from one on whose condition took too long, unless that was its last attempt. */
  private async plan(
    backfill: RunningBackfill,
    compiled: CompiledReaction,
    entries: readonly DequeuedEntry[],
    declarations: Declarations,
  ): Promise<{ planned: readonly Planned[]; attempts: number }> {
    const plans = await this.reactions.planOne(
      compiled,
      entries.map((entry) => eventOf(entry, backfill)),
    );
    const now = this.clock.now().getTime();
    const planned = plans.flatMap((found, index) => {
      const entry = entries[index];
      if (entry === undefined) return [];
      const { receivedAt } = entry.toProcess.event;
      return { entry, plan: found && withoutEarlierPeriods(found, declarations, receivedAt, now) };
    });
    if (!isOverdue(plans.at(-1))) return { planned, attempts: 0 };
    const attempts = planned.length === 1 ? backfill.attempts + 1 : 1;
    if (attempts >= ATTEMPTS_MAX) return { planned, attempts: 0 };
    return { planned: planned.slice(0, -1), attempts };
  }

  private async apply(
    transaction: Transaction,
    backfill: RunningBackfill,
    planned: readonly Planned[],
  ): Promise<readonly Tried[]> {
    const later = await this.laterSets(transaction, backfill, planned);
    const works = planned.map(({ entry, plan }, index) => ({
      entry,
      plan: plan === undefined ? undefined : withoutSuperseded(plan, later[index] ?? NO_LATER),
    }));
    const tried: Tried[] = [];
    await bisect(
      works,
      async (part) => {
        const results = await withinSavepoint(transaction, (inner) =>
          this.reactions.applyOne(
            inner,
            part.map(({ entry }) => eventOf(entry, backfill)),
            part.map(({ plan }) => plan),
          ),
        );
        tried.push(...part.map((work, index) => ({ ...work, result: results[index] })));
      },
      {
        select: (part) => part,
        mayBisect: (error) => !mayRepeat(error),
        failed: (work, error) =>
          tried.push({ ...work, result: { outcome: 'failed', faults: [] }, failure: failureOf(error) }),
      },
    );
    // The rows are locked now, so a worker that applied a later event has committed its mark or comes after this step.
    const laterNow = await this.laterSets(transaction, backfill, planned);
    if (JSON.stringify(laterNow) !== JSON.stringify(later)) throw new LostRaceError('a later event was applied');
    return tried;
  }

  /** A period that began while the step waited for a lock would get what belongs to the one before. */
  private assertSamePeriods(planned: readonly Planned[], declarations: Declarations): void {
    const now = this.clock.now().getTime();
    const isOver = planned.some(({ entry, plan }) => {
      const { receivedAt } = entry.toProcess.event;
      return plan !== undefined && withoutEarlierPeriods(plan, declarations, receivedAt, now) !== plan;
    });
    if (isOver) throw new LostRaceError('a period has begun');
  }

  private async laterSets(
    transaction: Transaction,
    backfill: RunningBackfill,
    planned: readonly Planned[],
  ): Promise<readonly LaterSets[]> {
    if (!backfill.tracksLater || planned.length === 0) return [];
    return this.marks.laterThan(
      transaction,
      backfill,
      planned.map(({ entry }) => entry),
    );
  }

  /** Writes the records of the events, as a worker does; an unchanged record is not written. */
  private async record(
    transaction: Transaction,
    backfill: RunningBackfill,
    { reaction }: CompiledReaction,
    tried: readonly Tried[],
  ): Promise<void> {
    const { tenantId, requestedAt } = backfill;
    const results = tried.flatMap(({ entry, result, failure }): DequeuedResult[] => {
      if (result === undefined) return [];
      const before = entry.before?.reactions ?? [];
      const known = before.find((record) => isSameName(record, reaction));
      const record = outcomeOf(reaction, result, requestedAt.toISOString());
      const isSame = known?.outcome === record.outcome && known.reason === record.reason;
      // An event that waits for an earlier definition waits for this one now.
      if (isSame && record.outcome !== 'waiting_for_customer') return [];
      const found = failure ?? failureOfFaults(faultsOfReaction(reaction, result));
      const reactions = [...before.filter((each) => each !== known), record];
      return [{ entry, result: { reactions, ...(found === undefined ? {} : { failure: found }) } }];
    });
    const waiting = new Set(
      tried.filter(({ result }) => result?.outcome === 'waiting_for_customer').map(({ entry }) => entry),
    );
    await this.dequeued.holdUnlinked(
      transaction,
      tenantId,
      results.filter(({ entry }) => waiting.has(entry)),
    );
    this.dequeued.finish(transaction, tenantId, results);
  }
}

const NO_LATER: LaterSets = { user: false, shared: false };

/** In the order of the paths of the reaction; its first events may leave some out. */
function inOrder(sums: readonly VariableSum[], { reaction: { ops } }: CompiledReaction): readonly VariableSum[] {
  const placeOf = (sum: VariableSum): number => ops.findIndex(({ path }) => path === sum.path);
  return [...sums].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Events of erased persons have no effects. */
function mayComeTo({ isErased, before, toProcess }: DequeuedEntry, { reaction }: CompiledReaction): boolean {
  if (isErased) return false;
  const record = before?.reactions.find((each) => isSameName(each, reaction));
  return mayBackfill(record, isInForceFor(reaction, toProcess));
}

/** The reaction applies to the event since the backfill was requested. */
function eventOf({ toProcess }: DequeuedEntry, { campaignId, name, requestedAt }: RunningBackfill): EventToProcess {
  const record = { campaignId, name, outcome: 'skipped', backfilledAt: requestedAt.toISOString() } as const;
  return { ...toProcess, backfilled: [record] };
}

/** What a plan would come to, whatever the values are. */
function rehearsed({ entry, plan }: Planned, declarations: Declarations): Tried {
  if (plan === undefined || !isMutationPlan(plan)) return { entry, plan, result: plan?.result };
  const faults = declarationFaults(plan.operations, declarations);
  return { entry, plan, result: faults.length === 0 ? { outcome: 'applied' } : { outcome: 'failed', faults } };
}

function appliedOperations({ plan, result }: Tried): (readonly Operation[])[] {
  return result?.outcome === 'applied' && plan !== undefined && isMutationPlan(plan) ? [plan.operations] : [];
}

function isOverdue(plan: Plan | undefined): boolean {
  if (plan === undefined || !('result' in plan)) return false;
  return plan.result.outcome === 'failed' && plan.result.mayRetry === true;
}

/** Whether the same transaction may succeed when it is repeated. */
function mayRepeat(error: unknown): boolean {
  return isPassing(error) || (error instanceof DomainError && error.code === 'unavailable');
}
