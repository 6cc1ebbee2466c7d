import { describeFaults } from '../../platform/errors/describe-faults';
import type { VariableScope, VariableValue } from '../../variables/domain/variable';
import { parseVariablePath } from '../../variables/domain/variable-path';
import { applyOperations, type ChangedValue } from './apply-operations';
import { checkTypes } from './check-types';
import type { MutationEntry } from './mutation-result';
import type { MutationWorkOutcome, MutationRefusal, MutationWork } from './mutation-work';
import { resolvePaths } from './resolve-paths';
import type { ParticipantDocument, StateValues } from './state-tree';

export interface ParticipantKey {
  readonly tenantId: string;
  readonly subject: string;
  readonly campaignId: string;
}

export interface SharedKey {
  readonly tenantId: string;
  readonly scope: Exclude<VariableScope, 'user'>;
  /** The campaign or the app. */
  readonly ownerId: string;
  readonly name: string;
}

export interface OutcomeKey extends ParticipantKey {
  readonly mutationKey: string;
}

/** What a mutation id has done before. */
export interface StoredOutcome {
  readonly key: OutcomeKey;
  readonly fingerprint: string;
  readonly mutations: readonly MutationEntry[];
  /** The work that was applied. */
  readonly workId: string;
}

/** Everything that a batch needs to know, under locks. */
export interface LockedState {
  readonly participants: readonly { readonly key: ParticipantKey; readonly document: ParticipantDocument }[];
  /** Null: never written. */
  readonly shared: readonly { readonly key: SharedKey; readonly value: VariableValue | null }[];
  readonly outcomes: readonly StoredOutcome[];
}

/** What is to be written, each row once. */
export interface StateChanges {
  readonly participants: readonly { readonly key: ParticipantKey; readonly document: ParticipantDocument }[];
  readonly shared: readonly { readonly key: SharedKey; readonly value: VariableValue }[];
  readonly outcomes: readonly StoredOutcome[];
}

/**
 * Settles the mutations of a batch one after the other on a working copy (contract section 8): each sees what those before
 * it have changed, and one that is refused changes nothing. A repetition is told before anything else is looked at.
 *
 * May be asked again about the same work, also as part of another batch: what an earlier attempt has stored for it was
 * applied, and is no repetition.
 */
export function settleMutations(
  batch: readonly MutationWork[],
  locked: LockedState,
): { readonly outcomes: readonly MutationWorkOutcome[]; readonly changes: StateChanges } {
  const copy = new WorkingCopy(locked);
  const outcomes = batch.map((work) => copy.repetitionOf(work) ?? settle(work, copy));
  return { outcomes, changes: copy.changes() };
}

function settle(work: MutationWork, copy: WorkingCopy): MutationWorkOutcome {
  const paths = resolvePaths(work.operations, work.declarations);
  if ('refusal' in paths) {
    const { code, message, details, path } = paths.refusal;
    return refused({ code, message, extras: { details, path } });
  }
  const faults = checkTypes(paths.operations);
  if (faults.length > 0) return invalid(faults);
  const applied = applyOperations(paths.operations, copy.valuesFor(work));
  if ('faults' in applied) return invalid(applied.faults);
  copy.write(work, applied.changed, applied.mutations);
  return { status: 'applied', mutations: applied.mutations };
}

function invalid(details: Parameters<typeof describeFaults>[0]): MutationWorkOutcome {
  return refused({ code: 'validation_failed', message: describeFaults(details), extras: { details } });
}

function refused(refusal: MutationRefusal): MutationWorkOutcome {
  return { status: 'refused', refusal };
}

interface WorkingParticipant {
  readonly key: ParticipantKey;
  readonly values: Map<string, VariableValue>;
  sessionId: string | null;
  changed: boolean;
}

class WorkingCopy {
  private readonly participants = new Map<string, WorkingParticipant>();
  /** By owner, then by name. */
  private readonly shared = new Map<string, Map<string, VariableValue>>();
  private readonly sharedChanges = new Map<string, { readonly key: SharedKey; readonly value: VariableValue }>();
  private readonly known = new Map<string, StoredOutcome>();
  private readonly made: StoredOutcome[] = [];

  constructor({ participants, shared, outcomes }: LockedState) {
    for (const { key, document } of participants) {
      const values = new Map(Object.entries(document.values));
      const { sessionId } = document.system;
      this.participants.set(participantName(key), { key, values, sessionId, changed: false });
    }
    for (const { key, value } of shared) if (value !== null) this.branch(key).set(key.name, value);
    for (const outcome of outcomes) this.known.set(outcomeName(outcome.key), outcome);
  }

  repetitionOf(work: MutationWork): MutationWorkOutcome | undefined {
    const found = this.known.get(outcomeName(outcomeKeyOf(work)));
    if (found === undefined) return undefined;
    const { mutations, fingerprint } = found;
    if (found.workId === work.workId) return { status: 'applied', mutations };
    return { status: 'duplicate', mutations, sameOperations: fingerprint === work.fingerprint };
  }

  valuesFor(work: MutationWork): StateValues {
    const { tenantId, owner } = work;
    const { campaignId, appId } = owner;
    return {
      user: this.participant(participantKeyOf(work)).values,
      campaign: this.branch({ tenantId, scope: 'campaign', ownerId: campaignId }),
      app: this.branch({ tenantId, scope: 'app', ownerId: appId }),
    };
  }

  write(work: MutationWork, changed: readonly ChangedValue[], mutations: readonly MutationEntry[]): void {
    const { workId, tenantId, owner, sessionId, fingerprint } = work;
    const participant = this.participant(participantKeyOf(work));
    if (sessionId !== null && sessionId !== participant.sessionId) {
      participant.sessionId = sessionId;
      participant.changed = true;
    }
    for (const { scope, name, value } of changed) {
      if (scope === 'user') {
        participant.values.set(name, value);
        participant.changed = true;
      } else {
        const key = { tenantId, scope, ownerId: scope === 'campaign' ? owner.campaignId : owner.appId, name };
        this.branch(key).set(name, value);
        this.sharedChanges.set(sharedName(key), { key, value });
      }
    }
    // What was before and after is kept for those who ask again, and goes with the participant; nobody asks for a ledger's.
    const kept = work.ledger === undefined ? mutations : [];
    const outcome = { key: outcomeKeyOf(work), fingerprint, mutations: kept, workId };
    this.made.push(outcome);
    this.known.set(outcomeName(outcome.key), outcome);
  }

  changes(): StateChanges {
    const participants = [...this.participants.values()].filter(({ changed }) => changed);
    return {
      participants: participants.map(({ key, values, sessionId }) => ({
        key,
        document: { values: Object.fromEntries(values), system: { sessionId } },
      })),
      shared: [...this.sharedChanges.values()],
      outcomes: this.made,
    };
  }

  private participant(key: ParticipantKey): WorkingParticipant {
    const found = this.participants.get(participantName(key));
    if (found === undefined) throw new Error('A mutation was settled without its participant');
    return found;
  }

  private branch({ tenantId, scope, ownerId }: Omit<SharedKey, 'name'>): Map<string, VariableValue> {
    const owner = `${tenantId}/${scope}/${ownerId}`;
    const found = this.shared.get(owner) ?? new Map<string, VariableValue>();
    this.shared.set(owner, found);
    return found;
  }
}

/** The rows that a batch has to lock, each once and in the one order in which all nodes lock. */
export function rowsOf(batch: readonly MutationWork[]): {
  readonly participants: readonly ParticipantKey[];
  readonly shared: readonly SharedKey[];
  readonly outcomes: readonly OutcomeKey[];
} {
  const participants = new Map<string, ParticipantKey>();
  const shared = new Map<string, SharedKey>();
  const outcomes = new Map<string, OutcomeKey>();
  for (const work of batch) {
    const key = outcomeKeyOf(work);
    outcomes.set(outcomeName(key), key);
    participants.set(participantName(key), participantKeyOf(work));
    for (const each of sharedKeysOf(work)) shared.set(sharedName(each), each);
  }
  return { participants: sorted(participants), shared: sorted(shared), outcomes: [...outcomes.values()] };
}

function sharedKeysOf({ tenantId, owner, operations, declarations }: MutationWork): SharedKey[] {
  return operations.flatMap(({ path }) => {
    const parsed = parseVariablePath(path);
    if (parsed === undefined || parsed.scope === 'user') return [];
    const { scope, name } = parsed;
    if (declarations.get(scope, name) === undefined) return [];
    return { tenantId, scope, ownerId: scope === 'campaign' ? owner.campaignId : owner.appId, name };
  });
}

function participantKeyOf({ tenantId, owner, ledger }: MutationWork): ParticipantKey {
  const { subject, campaignId } = ledger ?? owner;
  return { tenantId, subject, campaignId };
}

function outcomeKeyOf(work: MutationWork): OutcomeKey {
  const { tenantId, subject, campaignId } = participantKeyOf(work);
  // Field by field: a spread costs more than all the rest.
  return { tenantId, subject, campaignId, mutationKey: work.mutationKey };
}

// Workspaces are UUIDs, and names of campaigns, ledgers, apps and variables hold no slash: with the subject, which may, at the end or
// its length in front of it, two keys never give one name.
export function participantName({ tenantId, campaignId, subject }: ParticipantKey): string {
  return `${tenantId}/${campaignId}/${subject}`;
}

export function sharedName({ tenantId, scope, ownerId, name }: SharedKey): string {
  return `${tenantId}/${scope}/${ownerId}/${name}`;
}

function outcomeName(key: OutcomeKey): string {
  return `${key.subject.length}/${participantName(key)}/${key.mutationKey}`;
}

function sorted<Key>(rows: ReadonlyMap<string, Key>): Key[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}
