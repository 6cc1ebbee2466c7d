import { describeFaults } from '../../platform/errors/describe-faults';
import { applyOperations, type AppliedOperations } from './apply-operations';
import { checkTypes, resolvePaths, type ResolvedOperation } from './check-operations';
import type { MutationEntry, MutationRefusal, MutationResult, MutationWork } from './mutation-work';
import {
  needsParticipant,
  outcomeKeyOf,
  outcomeName,
  participantKeyOf,
  participantName,
  sharedName,
  type OutcomeKey,
  type ParticipantKey,
  type SharedKey,
} from './state-keys';
import { sharedOwnerId } from './state-owner';
import { documentOf, valuesOf, type ParticipantDocument, type StateValues, type StoredValue } from './state-tree';
import type { ValueChange, ValueKey } from './value-change';

/** The stored outcome of a mutation id. */
export interface StoredOutcome {
  readonly key: OutcomeKey;
  readonly fingerprint: string;
  readonly mutations: readonly MutationEntry[];
  /** The `workId` of the request that was applied. */
  readonly workId: string;
}

/** Everything that a batch reads, under locks. */
export interface LockedState {
  /** The moment of the changes of the batch, in epoch microseconds: the database's clock after all locks. */
  readonly atMicros: number;
  /** Later moments of rows that were last changed ahead of that clock, by `participantName` and `sharedName`; mostly none. */
  readonly ahead: { readonly participants: ReadonlyMap<string, number>; readonly shared: ReadonlyMap<string, number> };
  /** The database's clock after all locks, in epoch milliseconds: it decides which period is the current one. */
  readonly clockMs: number;
  readonly participants: readonly { readonly key: ParticipantKey; readonly document: ParticipantDocument }[];
  /** Null: never written. */
  readonly shared: readonly { readonly key: SharedKey; readonly value: StoredValue | null }[];
  readonly outcomes: readonly StoredOutcome[];
}

interface Changed<Key> {
  readonly key: Key;
  /** The moment of the change, in epoch microseconds. */
  readonly atMicros: number;
}

/** The rows to write, each once, and the history of the values in the order of their changes. */
export interface StateChanges {
  readonly participants: readonly (Changed<ParticipantKey> & { readonly document: ParticipantDocument })[];
  readonly shared: readonly (Changed<SharedKey> & { readonly value: StoredValue })[];
  readonly outcomes: readonly StoredOutcome[];
  readonly history: readonly ValueChange[];
}

/**
 * Applies the mutations of a batch in their order to a working copy (contract section 8). Each sees the changes of
 * those before it; a refused one changes nothing. A repetition is found before paths and types are checked.
 *
 * May be called again with the same work, also in another batch: an outcome with the same `workId` was stored by an
 * earlier attempt, so the result is `applied`, and not `duplicate`.
 */
export function applyMutations(
  batch: readonly MutationWork[],
  locked: LockedState,
): { readonly results: readonly MutationResult[]; readonly changes: StateChanges } {
  const copy = new WorkingCopy(locked);
  const results = batch.map((work) => copy.storedResultOf(work) ?? applyOne(work, copy, locked.clockMs));
  return { results, changes: copy.changes() };
}

function applyOne(work: MutationWork, copy: WorkingCopy, at: number): MutationResult {
  const paths = resolvePaths(work.operations, work.declarations);
  if ('refusal' in paths) {
    const { code, message, details, path } = paths.refusal;
    return refused({ code, message, extras: { details, path } });
  }
  const faults = checkTypes(paths.operations);
  if (faults.length > 0) return invalid(faults);
  const applied = applyOperations(paths.operations, copy.valuesFor(work), at);
  if ('refused' in applied) {
    const { code, path, faults: details } = applied.refused;
    return refused({
      code,
      message: describeFaults(details),
      extras: { details, ...(path === undefined ? {} : { path }) },
    });
  }
  copy.write(work, applied, changesOf(work, paths.operations, applied, copy));
  return { status: 'applied', mutations: applied.mutations, ...(applied.isClamped ? { isClamped: true } : {}) };
}

/** The history of what operations changed: an entry for each, in their order. */
function changesOf(
  { tenantId, owner, cause }: MutationWork,
  operations: readonly ResolvedOperation[],
  { mutations, periodStarts }: AppliedOperations,
  copy: WorkingCopy,
): ValueChange[] {
  const isParticipants = cause.kind === 'mutation' && cause.actor === undefined;
  return mutations.flatMap(({ previous, current }, index) => {
    const operation = operations[index];
    if (operation === undefined) return [];
    const { scope, name } = operation.declaration;
    const isOwn = scope === 'user';
    const subject = isOwn ? owner.subject : '';
    const key = { tenantId, subject, scope, ownerId: isOwn ? owner.campaignId : sharedOwnerId(owner, scope), name };
    return {
      key,
      op: operation.op,
      previous,
      current,
      cause,
      changedBy: isParticipants && !isOwn ? owner.subject : '',
      periodStart: periodStarts[index] ?? null,
      atMicros: copy.momentOf(key),
    };
  });
}

function invalid(details: Parameters<typeof describeFaults>[0]): MutationResult {
  return refused({ code: 'validation_failed', message: describeFaults(details), extras: { details } });
}

function refused(refusal: MutationRefusal): MutationResult {
  return { status: 'refused', refusal };
}

interface WorkingParticipant {
  readonly key: ParticipantKey;
  readonly values: Map<string, StoredValue>;
  sessionId: string | null;
  changed: boolean;
}

class WorkingCopy {
  private readonly participants = new Map<string, WorkingParticipant>();
  /** By owner, then by name. */
  private readonly shared = new Map<string, Map<string, StoredValue>>();
  private readonly sharedChanges = new Map<string, StateChanges['shared'][number]>();
  private readonly outcomes = new Map<string, StoredOutcome>();
  private readonly newOutcomes: StoredOutcome[] = [];
  private readonly history: ValueChange[] = [];

  constructor(private readonly locked: LockedState) {
    const { participants, shared, outcomes } = locked;
    for (const { key, document } of participants) {
      const values = valuesOf(document);
      const { sessionId } = document.system;
      this.participants.set(participantName(key), { key, values, sessionId, changed: false });
    }
    for (const { key, value } of shared) if (value !== null) this.branch(key).set(key.name, value);
    for (const outcome of outcomes) this.outcomes.set(outcomeName(outcome.key), outcome);
  }

  storedResultOf(work: MutationWork): MutationResult | undefined {
    const { identity } = work;
    if (identity === null) return undefined;
    const found = this.outcomes.get(outcomeName(outcomeKeyOf(work, identity)));
    if (found === undefined) return undefined;
    const { mutations, fingerprint } = found;
    if (found.workId === identity.workId) return { status: 'applied', mutations };
    return { status: 'duplicate', mutations, sameOperations: fingerprint === identity.fingerprint };
  }

  valuesFor(work: MutationWork): StateValues {
    const { tenantId, owner } = work;
    const { campaignId, appId } = owner;
    return {
      user: needsParticipant(work) ? this.participant(participantKeyOf(work)).values : new Map(),
      campaign: this.branch({ tenantId, scope: 'campaign', ownerId: campaignId }),
      app: this.branch({ tenantId, scope: 'app', ownerId: appId }),
    };
  }

  /** The moment of a change of this value, in epoch microseconds. */
  momentOf({ tenantId, subject, scope, ownerId, name }: ValueKey): number {
    const { atMicros, ahead } = this.locked;
    const { size } = scope === 'user' ? ahead.participants : ahead.shared;
    // Without names: they take some 4 % of the CPU of a counter that everybody adds to (`npm run bench -- --ab`, --only=d).
    if (size === 0) return atMicros;
    return scope === 'user'
      ? (ahead.participants.get(participantName({ tenantId, subject, campaignId: ownerId })) ?? atMicros)
      : (ahead.shared.get(sharedName({ tenantId, scope, ownerId, name })) ?? atMicros);
  }

  write(work: MutationWork, { changed, mutations }: AppliedOperations, history: readonly ValueChange[]): void {
    const { tenantId, owner, identity } = work;
    if (needsParticipant(work)) this.writeParticipant(work, changed);
    for (const { scope, name, value } of changed) {
      if (scope === 'user') continue;
      const key = { tenantId, scope, ownerId: sharedOwnerId(owner, scope), name };
      this.branch(key).set(name, value);
      this.sharedChanges.set(sharedName(key), { key, value, atMicros: this.momentOf({ ...key, subject: '' }) });
    }
    this.history.push(...history);
    if (identity === null) return;
    const { workId, fingerprint } = identity;
    const outcome = { key: outcomeKeyOf(work, identity), fingerprint, mutations, workId };
    this.newOutcomes.push(outcome);
    this.outcomes.set(outcomeName(outcome.key), outcome);
  }

  changes(): StateChanges {
    const participants = [...this.participants.values()].filter(({ changed }) => changed);
    return {
      participants: participants.map(({ key, values, sessionId }) => ({
        key,
        atMicros: this.locked.ahead.participants.get(participantName(key)) ?? this.locked.atMicros,
        document: { ...documentOf(values), system: { sessionId } },
      })),
      shared: [...this.sharedChanges.values()],
      outcomes: this.newOutcomes,
      history: this.history,
    };
  }

  private writeParticipant(work: MutationWork, changed: AppliedOperations['changed']): void {
    const { sessionId } = work;
    const participant = this.participant(participantKeyOf(work));
    if (sessionId !== null && sessionId !== participant.sessionId) {
      participant.sessionId = sessionId;
      participant.changed = true;
    }
    for (const { scope, name, value } of changed) {
      if (scope !== 'user') continue;
      participant.values.set(name, value);
      participant.changed = true;
    }
  }

  private participant(key: ParticipantKey): WorkingParticipant {
    const found = this.participants.get(participantName(key));
    if (found === undefined) throw new Error('The row of a participant was not locked');
    return found;
  }

  private branch({ tenantId, scope, ownerId }: Omit<SharedKey, 'name'>): Map<string, StoredValue> {
    const owner = `${tenantId}/${scope}/${ownerId}`;
    const found = this.shared.get(owner) ?? new Map<string, StoredValue>();
    this.shared.set(owner, found);
    return found;
  }
}
