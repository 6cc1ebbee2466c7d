import type { ReactionRecord } from '../../../ingest/queue/processing-record';
import { addDecimal } from '../../../runtime/domain/decimal';
import { replacesValue, type Operation } from '../../../runtime/domain/operation';
import type { Declarations } from '../../../variables/domain/declarations';
import { periodAt } from '../../../variables/domain/period';
import { parseVariablePath } from '../../../variables/domain/variable';
import { isMutationPlan, type Plan, type ReactionResult } from '../../domain/react';
import type { ReactionOperation } from '../../domain/reaction';

/** Why a backfill ended early: its reaction was redefined, deleted or switched off; or its job was given up. */
export const BACKFILL_END_REASONS = ['reaction_changed', 'gave_up'] as const;
export type BackfillEndReason = (typeof BACKFILL_END_REASONS)[number];

/** `survey`: counts the events, and finds later ones that set values. */
export type BackfillPhase = 'survey' | 'apply';

/** The events that were looked at: each is applied, waiting, skipped or failed. */
export interface BackfillCounts {
  readonly scanned: number;
  /** They meet `when`, and the reaction came to them for the first time. */
  readonly matched: number;
  readonly applied: number;
  /** Until their customer has an EXTERNAL identifier. */
  readonly waiting: number;
  /** Not met, superseded, of an earlier period or an erased person, expired, or the reaction has come to them before. */
  readonly skipped: number;
  readonly failed: number;
}

export const NO_COUNTS: BackfillCounts = { scanned: 0, matched: 0, applied: 0, waiting: 0, skipped: 0, failed: 0 };

/** What operations on one variable would add up to. */
export interface VariableSum {
  readonly path: string;
  /** Events that would change it. */
  readonly events: number;
  /** What `inc` and `dec` add up to, in decimal; null beyond ±2^53. */
  readonly sum: number | null;
  /** How often it would be set. */
  readonly sets: number;
}

/** What became of one event; undefined: nothing, as the reaction has come to it before or never will. */
export type EventOutcome = ReactionResult | undefined;

export function addCounts(counts: BackfillCounts, outcomes: readonly EventOutcome[]): BackfillCounts {
  const count = (holds: (outcome: EventOutcome) => boolean): number => outcomes.filter(holds).length;
  return {
    scanned: counts.scanned + outcomes.length,
    matched: counts.matched + count(hasMatched),
    applied: counts.applied + count((each) => each?.outcome === 'applied'),
    waiting: counts.waiting + count((each) => each?.outcome === 'waiting_for_customer'),
    skipped: counts.skipped + count((each) => each === undefined || each.outcome === 'skipped'),
    failed: counts.failed + count((each) => each?.outcome === 'failed'),
  };
}

/** The counts at the end: of `total` events, those that have expired since they were counted are skipped. */
export function withExpired(counts: BackfillCounts, total: number): BackfillCounts {
  const expired = Math.max(0, total - counts.scanned);
  return { ...counts, scanned: counts.scanned + expired, skipped: counts.skipped + expired };
}

function hasMatched(outcome: EventOutcome): boolean {
  switch (outcome?.outcome) {
    case undefined:
      return false;
    case 'applied':
    case 'waiting_for_customer':
      return true;
    case 'skipped':
      return outcome.reason !== 'condition' && outcome.reason !== 'not_in_force';
    case 'failed':
      return outcome.faults.every(({ path }) => path !== 'when');
  }
}

/**
 * Whether a backfill evaluates the reaction for an event with this record of it. An event whose condition was not met
 * is evaluated again, since the reaction may have been corrected; a failed one is replayed from the review area.
 * `isInForce`: whether the reaction applies to the event already. One that waits for an earlier definition would be
 * skipped once its customer is linked.
 */
export function mayBackfill(record: ReactionRecord | undefined, isInForce: boolean): boolean {
  if (record === undefined) return true;
  if (record.outcome === 'waiting_for_customer') return !isInForce;
  return record.outcome === 'skipped' && (record.reason === 'condition' || record.reason === 'not_in_force');
}

/** Whether a reaction sets a value, so that the order of events matters to it. */
export function setsValues(ops: readonly ReactionOperation[]): boolean {
  return ops.some(({ op }) => replacesValue(op));
}

/** Whether a reaction sets a value of the campaign or the app. */
export function setsSharedValues(ops: readonly ReactionOperation[]): boolean {
  return ops.some(({ op, path }) => replacesValue(op) && parseVariablePath(path)?.scope !== 'user');
}

/** Which values a later event has set: those of the customer, those of the campaign and the app. */
export interface LaterSets {
  readonly user: boolean;
  readonly shared: boolean;
}

/**
 * The plan without operations on variables that the reaction sets and that a later event has set already: the last
 * event to set a value decides it, in whatever order the events are processed.
 */
export function withoutSuperseded(plan: Plan, later: LaterSets): Plan {
  if (!isMutationPlan(plan)) return plan;
  const { reaction } = plan;
  const superseded = new Set(
    reaction.ops.flatMap(({ op, path }) => (replacesValue(op) && isSetLater(path, later) ? [path] : [])),
  );
  return leavingOut(plan, (path) => superseded.has(path), 'superseded');
}

/**
 * The plan without operations on variables whose current period has begun after the receipt of the event: it would have
 * counted in an earlier period, of which nothing is left by now (docs/adr/0080). `now` in epoch milliseconds.
 */
export function withoutEarlierPeriods(plan: Plan, declarations: Declarations, receivedAt: Date, now: number): Plan {
  const isEarlier = (path: string): boolean => {
    const variable = parseVariablePath(path);
    const period = variable === undefined ? undefined : declarations.get(variable.scope, variable.name)?.period;
    return period !== undefined && receivedAt.getTime() < periodAt(period, now).start;
  };
  return leavingOut(plan, isEarlier, 'period_over');
}

/** `reason`: why nothing is left to do. */
function leavingOut(plan: Plan, isOut: (path: string) => boolean, reason: 'superseded' | 'period_over'): Plan {
  if (!isMutationPlan(plan)) return plan;
  const operations = plan.operations.filter(({ path }) => !isOut(path));
  if (operations.length === plan.operations.length) return plan;
  if (operations.length === 0) return { reaction: plan.reaction, result: { outcome: 'skipped', reason } };
  return { ...plan, operations };
}

function isSetLater(path: string, { user, shared }: LaterSets): boolean {
  return parseVariablePath(path)?.scope === 'user' ? user : shared;
}

/** Adds the operations of some events to the sums; new paths come last. */
export function addSums(
  sums: readonly VariableSum[],
  operationsByEvent: readonly (readonly Operation[])[],
): readonly VariableSum[] {
  const byPath = new Map(sums.map((each) => [each.path, each]));
  for (const operations of operationsByEvent) {
    const seen = new Set<string>();
    for (const operation of operations) {
      const { path } = operation;
      const before = byPath.get(path) ?? { path, events: 0, sum: 0, sets: 0 };
      byPath.set(path, {
        ...addOperation(before, operation),
        events: before.events + (seen.has(path) ? 0 : 1),
      });
      seen.add(path);
    }
  }
  return [...byPath.values()];
}

function addOperation(sum: VariableSum, { op, value }: Operation): VariableSum {
  switch (op) {
    case 'set':
      return { ...sum, sets: sum.sets + 1 };
    case 'inc':
      return { ...sum, sum: addChange(sum.sum, value) };
    case 'dec':
      return { ...sum, sum: addChange(sum.sum, -value) };
  }
}

function addChange(sum: number | null, change: number): number | null {
  return sum === null ? null : (addDecimal(sum, change) ?? null);
}
