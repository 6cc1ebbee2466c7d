import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Commits } from '../platform/group-commit/group-commit';
import { GroupCommits } from '../platform/group-commit/group-commits';
import { isPassing, persistBatch } from '../platform/group-commit/persist-batch';
import type { PipelinedConnection, Transaction } from '../platform/postgres/pipelined-connection';
import { type Declarations, NO_VERSION } from '../variables/domain/declarations';
import { VariablesService } from '../variables/variables.service';
import { ChangeSubscribers } from './change-subscribers';
import { applyMutations } from './domain/apply-mutations';
import {
  campaignName,
  campaignOf,
  needsParticipant,
  participantKeyOf,
  participantName,
  rowsToLock,
  type ParticipantKey,
} from './domain/state-keys';
import type { MutationResult, MutationWork } from './domain/mutation-work';
import { expectedTextBytes } from './domain/state-tree';
import { StateRepository } from './state.repository';

/**
 * Nodes lock a busy counter one after the other, each for the time of a commit; a node that hangs must not stop the
 * others.
 */
const LOCK_TIMEOUT_MS = 250;
const STATEMENT_TIMEOUT_MS = 1_500;
/** After so long a mutation is answered 503 instead of being tried again. */
const RETRY_TIME_MAX_MS = 1_500;
const BATCH_MUTATIONS_MAX = 400;
/** Each value is written up to five times, and answered; a batch of this size takes about 25 ms of the event loop. */
const BATCH_BYTES_MAX = 160 * 1024;

/** A document is read and written once. */
const DOCUMENT_BYTES_SHARE = 1 / 4;

/** About what a mutation takes in memory, in bytes: by itself, and for each operation beside its texts. */
const WORK_BYTES = 500;
const OPERATION_BYTES = 100;

type LockedRows = Awaited<ReturnType<StateRepository['lock']>>;
/** About the sizes of documents, by `participantName`. */
type DocumentBytes = ReadonlyMap<string, number>;

interface AppliedRows {
  readonly added: readonly ParticipantKey[];
  readonly bytes: DocumentBytes;
  readonly read?: LockedRows;
}

/**
 * Stores mutations. `apply` commits many requests in one transaction (group commit), so that a counter which every
 * participant changes is written once a batch. A failure of one mutation does not affect the others.
 */
@Injectable()
export class MutationStore implements BeforeApplicationShutdown {
  private readonly commits: Commits<MutationWork, MutationResult>;

  constructor(
    private readonly states: StateRepository,
    private readonly variables: VariablesService,
    private readonly subscribers: ChangeSubscribers,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    groupCommits: GroupCommits,
  ) {
    const options = {
      name: 'mutations',
      applicationName: 'cds-mutations',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      singlesMax: BATCH_MUTATIONS_MAX,
      fillTo: BATCH_MUTATIONS_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: settings.laneBytesMax,
    };
    this.commits = groupCommits.open(options, (connection) => (batch) => this.persist(connection, batch));
  }

  /** Applies one mutation and resolves after the commit. Throws `unavailable` when too many mutations are waiting. */
  apply(work: MutationWork): Promise<MutationResult> {
    const bytes = WORK_BYTES + operationBytesOf(work);
    return this.commits.submit(work.tenantId, { work, bytes, batchBytes: bytes + this.documentBytesOf(work) });
  }

  /**
   * Applies a batch within a transaction, all of it or nothing, in two round trips; one with large documents in more. Rows are
   * locked before outcomes are read: the participant's row, which is always locked, makes repetitions of one id wait for each
   * other.
   *
   * May be called again with the same work after a failure, also when it is unknown whether a commit happened.
   */
  async applyWithin(transaction: Transaction, batch: readonly MutationWork[]): Promise<readonly MutationResult[]> {
    if (this.partsOf(batch).length === 1) return this.applyBatch(transaction, batch);
    // All rows at once, so that they are locked in one order. All documents at once might be too many for the memory.
    const { participants, shared } = rowsToLock(batch);
    return this.applyParts(transaction, batch, await this.states.lockRows(transaction, participants, shared));
  }

  /** The same of a batch whose documents are expected to be small. */
  private async applyBatch(
    transaction: Transaction,
    batch: readonly MutationWork[],
  ): Promise<readonly MutationResult[]> {
    const read = await this.lock(transaction, batch);
    return this.applyParts(transaction, batch, { added: read.added, bytes: read.bytes, read });
  }

  /**
   * `added`: participants that the transaction has added. `bytes`: how large documents are. `read`: all rows, if they were read
   * already.
   */
  private async applyParts(
    transaction: Transaction,
    batch: readonly MutationWork[],
    { added, bytes, read }: AppliedRows,
  ): Promise<readonly MutationResult[]> {
    const results: MutationResult[] = [];
    for (const part of this.partsOf(batch, bytes)) {
      const isFirst = results.length === 0;
      // Later parts read what the earlier ones have written; meanwhile the event loop is free.
      const rows = isFirst && read !== undefined ? read : await this.lock(transaction, part);
      results.push(...(await this.applyPart(transaction, part, rows)));
    }
    if (added.length > 0) this.states.remove(transaction, ofRefusedOnly(added, batch, results));
    return results;
  }

  /**
   * Splits the reactions to events, which may write 20 MB for one event: a part takes no longer of the event loop than a batch
   * of `apply`. A larger mutation is a part of its own. `WORK_BYTES` do not count: nothing waits here.
   */
  private partsOf(batch: readonly MutationWork[], known?: DocumentBytes): readonly (readonly MutationWork[])[] {
    const parts: MutationWork[][] = [];
    let bytes = Infinity;
    let participants = new Set<string>();
    for (const work of batch) {
      const name = participantName(participantKeyOf(work));
      const ofOperations = operationBytesOf(work);
      const ofDocument = this.documentBytesOf(work, known);
      bytes += ofOperations + (participants.has(name) ? 0 : ofDocument);
      if (bytes <= BATCH_BYTES_MAX) parts.at(-1)?.push(work);
      else {
        parts.push([work]);
        bytes = ofOperations + ofDocument;
        participants = new Set();
      }
      participants.add(name);
    }
    return parts;
  }

  private documentBytesOf(work: MutationWork, known?: DocumentBytes): number {
    if (!needsParticipant(work)) return 0;
    const key = participantKeyOf(work);
    const bytes = known?.get(participantName(key)) ?? this.states.documentBytes(key);
    return DOCUMENT_BYTES_SHARE * (bytes ?? expectedTextBytes(work.declarations, ['user']));
  }

  private lock(transaction: Transaction, batch: readonly MutationWork[]): Promise<LockedRows> {
    const { participants, shared, outcomes, campaigns } = rowsToLock(batch);
    return this.states.lock(transaction, participants, shared, outcomes, campaigns);
  }

  private async applyPart(
    transaction: Transaction,
    part: readonly MutationWork[],
    { state, versions }: LockedRows,
  ): Promise<readonly MutationResult[]> {
    const { results, changes } = applyMutations(await this.withCurrentDeclarations(part, versions), state);
    this.states.write(transaction, changes);
    await this.subscribers.store(transaction, changes.history);
    return results;
  }

  /**
   * The batch with the declarations that are in force by `versions`, which the transaction read when it locked the rows. A
   * definition that tightens limits first counts the values that break them; without this step an older mutation could
   * store one more afterwards (docs/adr/0064). A variable that was declared meanwhile was not locked, and stays unknown.
   */
  private async withCurrentDeclarations(
    batch: readonly MutationWork[],
    versions: ReadonlyMap<string, string>,
  ): Promise<readonly MutationWork[]> {
    const inForce = (work: MutationWork): string => versions.get(campaignName(campaignOf(work))) ?? NO_VERSION;
    if (batch.every((work) => work.declarations.version === inForce(work))) return batch;
    const read = new Map<string, Declarations>();
    const updated: MutationWork[] = [];
    for (const work of batch) {
      const { tenantId, campaignId } = campaignOf(work);
      if (work.declarations.version === inForce(work)) updated.push(work);
      else {
        const name = campaignName({ tenantId, campaignId });
        const current = read.get(name) ?? (await this.variables.declarationsNow(tenantId, campaignId));
        read.set(name, current);
        updated.push({ ...work, declarations: work.declarations.updatedBy(current) });
      }
    }
    return updated;
  }

  /** The server takes no requests any more; those that wait are still applied and answered. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.commits.close();
  }

  private persist(connection: PipelinedConnection, batch: readonly MutationWork[]): Promise<readonly MutationResult[]> {
    return persistBatch<MutationWork, MutationResult>(batch, {
      attempt: (works) => connection.transaction((open) => this.applyBatch(open, works), works),
      refuse: (_work, error) => {
        if (isPassing(error)) return { status: 'unavailable' };
        throw error;
      },
      retryTimeMaxMs: RETRY_TIME_MAX_MS,
    });
  }
}

/** The participants without an applied mutation: a refused one leaves nothing. */
function ofRefusedOnly(
  participants: readonly ParticipantKey[],
  batch: readonly MutationWork[],
  results: readonly MutationResult[],
): readonly ParticipantKey[] {
  const isRefused = (index: number): boolean => results[index]?.status === 'refused';
  const applied = new Set(
    batch
      .filter((_work, index) => !isRefused(index))
      .map(participantKeyOf)
      .map(participantName),
  );
  return participants.filter((key) => !applied.has(participantName(key)));
}

function operationBytesOf({ operations }: MutationWork): number {
  return operations.reduce(
    (sum, { path, value }) => sum + OPERATION_BYTES + path.length + (typeof value === 'string' ? value.length : 8),
    0,
  );
}
