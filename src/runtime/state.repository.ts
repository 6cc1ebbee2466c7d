import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { newId } from '../platform/values/ids';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { VariableValue } from '../variables/domain/variable';
import type { MutationEntry } from './domain/mutation-work';
import {
  participantName,
  sharedName,
  type LockedState,
  type OutcomeKey,
  type ParticipantKey,
  type SharedKey,
  type StateChanges,
} from './domain/apply-mutations';
import type { ParticipantDocument } from './domain/state-tree';
import { OutcomeClock } from './outcome-clock';
import * as sql from './state.sql';

/** Rows that this node knows to be there; for others it makes sure first. Rows go away only by an erasure. */
const KNOWN_ROWS_MAX = 100_000;
const DAY_MS = 24 * 60 * 60 * 1000;

interface ParticipantRow {
  readonly position: string;
  readonly values: ParticipantDocument['values'];
  readonly system: { readonly sessionId?: string };
}

interface OutcomeRow {
  readonly position: string;
  readonly fingerprint: string;
  readonly mutations: readonly MutationEntry[];
  readonly work_id: string;
}

/** The tables of state, within a transaction of the lane. Each step is one pipelined flush. */
@Injectable()
export class StateRepository {
  /** By size, each of them 1: `max` would set all the room aside at every start. */
  private readonly known = new LRUCache<string, true>({ maxSize: KNOWN_ROWS_MAX, sizeCalculation: () => 1 });

  constructor(
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
    private readonly clock: OutcomeClock,
  ) {}

  /**
   * Locks rows, given in the order in which all nodes lock, and reads what stands in them and which of the mutation ids
   * were used. Throws LostRaceError when a row that was known to be there has gone.
   */
  async lock(
    transaction: Transaction,
    participants: readonly ParticipantKey[],
    shared: readonly SharedKey[],
    outcomes: readonly OutcomeKey[],
  ): Promise<LockedState> {
    // All in one list: of statements that fail one after the other, the first is the one that says why.
    const [, lockedParticipants, lockedShared, found] = await Promise.all([
      this.ensure(transaction, participants, shared),
      this.lockParticipants(transaction, participants),
      shared.length === 0 ? [] : this.lockShared(transaction, shared),
      this.findOutcomes(transaction, outcomes),
    ]);
    return { participants: lockedParticipants, shared: lockedShared, outcomes: found };
  }

  /** Writes changes of locked rows, along with COMMIT. */
  write(transaction: Transaction, { participants, shared, outcomes }: StateChanges): void {
    if (participants.length > 0) {
      transaction.sendLast(sql.UPDATE_PARTICIPANTS, [
        ...participantColumns(participants.map(({ key }) => key)),
        participants.map(({ document }) => JSON.stringify(document.values)),
        participants.map(({ document }) => JSON.stringify(systemColumn(document))),
      ]);
    }
    if (shared.length > 0) {
      const values = shared.map(({ value }) => JSON.stringify(value));
      transaction.sendLast(sql.UPDATE_SHARED_VALUES, [...sharedColumns(shared.map(({ key }) => key)), values]);
    }
    if (outcomes.length > 0) {
      transaction.sendLast(sql.INSERT_OUTCOMES, [
        ...participantColumns(outcomes.map(({ key }) => key)),
        outcomes.map(({ key }) => key.mutationKey),
        outcomes.map(({ fingerprint }) => fingerprint),
        outcomes.map(({ mutations }) => JSON.stringify(mutations)),
        outcomes.map(({ workId }) => workId),
        this.clock.now(),
      ]);
    }
  }

  private ensure(
    transaction: Transaction,
    participants: readonly ParticipantKey[],
    shared: readonly SharedKey[],
  ): Promise<unknown> {
    const newParticipants = participants.filter((key) => !this.known.has(participantName(key)));
    const newShared = shared.filter((key) => !this.known.has(sharedName(key)));
    return Promise.all([
      newParticipants.length > 0 &&
        transaction.send(sql.ENSURE_PARTICIPANTS, [
          ...participantColumns(newParticipants),
          newParticipants.map(() => newId()),
        ]),
      newShared.length > 0 && transaction.send(sql.ENSURE_SHARED_VALUES, sharedColumns(newShared)),
    ]);
  }

  private async lockParticipants(transaction: Transaction, keys: readonly ParticipantKey[]) {
    const rows = await transaction.send<ParticipantRow>(sql.LOCK_PARTICIPANTS, participantColumns(keys));
    this.note(keys.map(participantName), rows.length);
    return rows.flatMap(({ position, values, system }) => {
      const key = keys[Number(position) - 1];
      return key === undefined ? [] : [{ key, document: { values, system: { sessionId: system.sessionId ?? null } } }];
    });
  }

  private async lockShared(transaction: Transaction, keys: readonly SharedKey[]) {
    const rows = await transaction.send<{ position: string; value: VariableValue | null }>(
      sql.LOCK_SHARED_VALUES,
      sharedColumns(keys),
    );
    this.note(keys.map(sharedName), rows.length);
    return rows.flatMap(({ position, value }) => {
      const key = keys[Number(position) - 1];
      return key === undefined ? [] : [{ key, value }];
    });
  }

  private async findOutcomes(transaction: Transaction, keys: readonly OutcomeKey[]) {
    const now = this.clock.now();
    const rows = await transaction.send<OutcomeRow>(sql.FIND_OUTCOMES, [
      ...participantColumns(keys),
      keys.map(({ mutationKey }) => mutationKey),
      ...[new Date(now.getTime() - this.settings.mutationRetentionDays * DAY_MS), now],
    ]);
    return rows.flatMap(({ position, fingerprint, mutations, work_id: workId }) => {
      const key = keys[Number(position) - 1];
      return key === undefined ? [] : [{ key, fingerprint, mutations, workId }];
    });
  }

  /** Remembers rows that are there. A transaction that made one may still fail: then a row is missing once, and is made anew. */
  private note(names: readonly string[], found: number): void {
    if (found === names.length) for (const name of names) this.known.set(name, true);
    else {
      for (const name of names) this.known.delete(name);
      throw new LostRaceError('A row of state has gone');
    }
  }
}

function participantColumns(keys: readonly ParticipantKey[]): [string[], string[], string[]] {
  return [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ subject }) => subject),
    keys.map(({ campaignId }) => campaignId),
  ];
}

function sharedColumns(keys: readonly SharedKey[]): [string[], string[], string[], string[]] {
  return [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ scope }) => scope),
    keys.map(({ ownerId }) => ownerId),
    keys.map(({ name }) => name),
  ];
}

function systemColumn({ system: { sessionId } }: ParticipantDocument): { readonly sessionId?: string } {
  return sessionId === null ? {} : { sessionId };
}
