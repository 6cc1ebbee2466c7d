import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { VariableValue } from '../variables/domain/variable';
import type { MutationEntry } from './domain/mutation-work';
import type { LockedState, StateChanges } from './domain/apply-mutations';
import {
  campaignName,
  participantName,
  sharedName,
  type CampaignKey,
  type OutcomeKey,
  type ParticipantKey,
  type SharedKey,
} from './domain/state-keys';
import { PeriodValue, type ParticipantDocument, textBytesOf } from './domain/state-tree';
import { insertChanges } from './history.sql';
import { OutcomeClock } from './outcome-clock';
import * as sql from './state.sql';

/** Rows that this process knows to exist; others are inserted first. */
const KNOWN_ROWS_MAX = 100_000;
const DAY_MS = 24 * 60 * 60 * 1000;

interface LockedRow {
  readonly position: string;
  readonly clock_seconds: number;
  readonly change_seconds: number;
}

interface ParticipantRow extends LockedRow {
  readonly values: ParticipantDocument['values'];
  readonly periods: ParticipantDocument['periods'];
  readonly system: { readonly sessionId?: string };
}

interface ParticipantSizeRow {
  readonly position: string;
  readonly bytes: number | null;
}

interface SharedRow extends LockedRow {
  readonly value: VariableValue | null;
  readonly period_start: number | null;
}

interface OutcomeRow {
  readonly position: string;
  readonly fingerprint: string;
  readonly mutations: readonly MutationEntry[];
  readonly work_id: string;
}

/** A row, and about the bytes of its texts. */
type RowSize = readonly [name: string, bytes: number];

const NO_ROWS = { rows: [], sizes: [] } as const;

/** The tables of state, within a transaction of `MutationStore`. Each step is one pipelined flush. */
@Injectable()
export class StateRepository {
  /**
   * By name: about the bytes of a participant's texts, when it was locked last; 0 for a shared value. Limited by `maxSize` with
   * entries of size 1: `max` would allocate all the memory at the start.
   */
  private readonly known = new LRUCache<string, number>({ maxSize: KNOWN_ROWS_MAX, sizeCalculation: () => 1 });

  constructor(
    @Inject(SETTINGS_TOKEN) private readonly settings: Settings,
    private readonly clock: OutcomeClock,
  ) {}

  /**
   * Locks rows, given in the order in which all nodes lock, and reads them and the stored outcomes of the mutation ids.
   * `versions`: the versions of the declarations of `campaigns`, by `campaignName`. `added`: participants whose rows were
   * missing; they are there now, without values. `bytes`: about the sizes of the documents, by `participantName`. Throws
   * LostRaceError when a row that was known to exist is gone.
   */
  async lock(
    transaction: Transaction,
    participants: readonly ParticipantKey[],
    shared: readonly SharedKey[],
    outcomes: readonly OutcomeKey[],
    campaigns: readonly CampaignKey[],
  ): Promise<{
    readonly state: LockedState;
    readonly versions: ReadonlyMap<string, string>;
    readonly added: readonly ParticipantKey[];
    readonly bytes: ReadonlyMap<string, number>;
  }> {
    // All statements in one Promise.all: it rejects with the first error, which is the cause of the others.
    const [[added], { rows: participantRows, sizes }, sharedRows, found, versions] = await Promise.all([
      this.ensure(transaction, participants, shared),
      participants.length === 0 ? NO_ROWS : this.lockParticipants(transaction, participants),
      shared.length === 0 ? [] : this.lockShared(transaction, shared),
      outcomes.length === 0 ? [] : this.findOutcomes(transaction, outcomes),
      this.readVersions(transaction, campaigns),
    ]);
    const clockSeconds = latestClock(participantRows, sharedRows);
    const state = {
      atMicros: microsOf(clockSeconds),
      ahead: {
        participants: momentsAhead(participantRows, clockSeconds, participants, participantName),
        shared: momentsAhead(sharedRows, clockSeconds, shared, sharedName),
      },
      clockMs: Math.floor(1_000 * clockSeconds),
      participants: participantRows.flatMap((row) => documentsIn(row, participants)),
      shared: sharedRows.flatMap((row) => valuesIn(row, shared)),
      outcomes: found,
    };
    return { state, versions, added, bytes: new Map(sizes) };
  }

  /**
   * Locks rows as `lock` does, and reads only how large their documents are: these may be too many for the memory. `bytes`: about
   * their sizes, by `participantName`.
   */
  async lockRows(
    transaction: Transaction,
    participants: readonly ParticipantKey[],
    shared: readonly SharedKey[],
  ): Promise<{ readonly added: readonly ParticipantKey[]; readonly bytes: ReadonlyMap<string, number> }> {
    const [[added], sizes] = await Promise.all([
      this.ensure(transaction, participants, shared),
      participants.length === 0 ? [] : this.lockParticipantRows(transaction, participants),
      shared.length > 0 && this.lockShared(transaction, shared),
    ]);
    return { added, bytes: new Map(sizes) };
  }

  /** Writes changes of locked rows, and their history, along with COMMIT. */
  write(transaction: Transaction, { participants, shared, outcomes, history }: StateChanges): void {
    if (participants.length > 0) {
      transaction.sendLast(sql.UPDATE_PARTICIPANTS, sql.updateParticipantsParameters(participants));
    }
    if (shared.length > 0) {
      transaction.sendLast(sql.UPDATE_SHARED_VALUES, sql.updateSharedValuesParameters(shared));
    }
    if (history.length > 0 && this.settings.stateHistoryDays > 0) {
      transaction.sendLast(...insertChanges(history, this.clock.now()));
    }
    if (outcomes.length > 0) {
      transaction.sendLast(sql.INSERT_OUTCOMES, sql.insertOutcomesParameters(outcomes, this.clock.now()));
    }
  }

  /** About the size of a participant's document; undefined while this process does not know it. */
  documentBytes(key: ParticipantKey): number | undefined {
    return this.known.get(participantName(key));
  }

  /** Removes participants that `lock` has added, along with COMMIT. */
  remove(transaction: Transaction, added: readonly ParticipantKey[]): void {
    if (added.length === 0) return;
    transaction.afterCommit(() => {
      for (const key of added) this.known.delete(participantName(key));
    });
    transaction.sendLast(sql.REMOVE_PARTICIPANTS, sql.participantParameters(added));
  }

  private ensure(
    transaction: Transaction,
    participants: readonly ParticipantKey[],
    shared: readonly SharedKey[],
  ): Promise<[added: readonly ParticipantKey[], unknown]> {
    const newParticipants = participants.filter((key) => !this.known.has(participantName(key)));
    const newShared = shared.filter((key) => !this.known.has(sharedName(key)));
    return Promise.all([
      newParticipants.length === 0
        ? []
        : transaction.send<ParticipantKey>(sql.ENSURE_PARTICIPANTS, sql.ensureParticipantsParameters(newParticipants)),
      newShared.length > 0 && transaction.send(sql.ENSURE_SHARED_VALUES, sql.sharedParameters(newShared)),
    ]);
  }

  private async lockParticipants(transaction: Transaction, keys: readonly ParticipantKey[]) {
    const rows = await transaction.send<ParticipantRow>(sql.LOCK_PARTICIPANTS, sql.participantParameters(keys));
    const names = keys.map(participantName);
    this.assertAllFound(names, rows.length);
    const sizes = rows.map(({ position, values }): RowSize => [names[Number(position) - 1] ?? '', textBytesOf(values)]);
    this.remember(transaction, sizes);
    return { rows, sizes };
  }

  private async lockParticipantRows(
    transaction: Transaction,
    keys: readonly ParticipantKey[],
  ): Promise<readonly RowSize[]> {
    const parameters = sql.participantParameters(keys);
    const rows = await transaction.send<ParticipantSizeRow>(sql.LOCK_PARTICIPANT_ROWS, parameters);
    const names = keys.map(participantName);
    this.assertAllFound(names, rows.length);
    const sizes = rows.flatMap(({ position, bytes }): RowSize[] =>
      bytes === null ? [] : [[names[Number(position) - 1] ?? '', bytes]],
    );
    this.remember(transaction, sizes);
    return sizes;
  }

  private async lockShared(transaction: Transaction, keys: readonly SharedKey[]) {
    const rows = await transaction.send<SharedRow>(sql.LOCK_SHARED_VALUES, sql.sharedParameters(keys));
    const names = keys.map(sharedName);
    this.assertAllFound(names, rows.length);
    this.remember(
      transaction,
      names.map((name) => [name, 0]),
    );
    return rows;
  }

  private async readVersions(transaction: Transaction, campaigns: readonly CampaignKey[]) {
    const rows = await transaction.send<{ position: string; version: string }>(sql.READ_CAMPAIGN_VERSIONS, [
      campaigns.map(({ tenantId }) => tenantId),
      campaigns.map(({ campaignId }) => campaignId),
    ]);
    return new Map(
      rows.flatMap(({ position, version }): [string, string][] => {
        const key = campaigns[Number(position) - 1];
        return key === undefined ? [] : [[campaignName(key), version]];
      }),
    );
  }

  private async findOutcomes(transaction: Transaction, keys: readonly OutcomeKey[]) {
    const now = this.clock.now();
    const oldest = new Date(now.getTime() - this.settings.mutationRetentionDays * DAY_MS);
    const parameters = sql.findOutcomesParameters(keys, { oldest, now });
    const rows = await transaction.send<OutcomeRow>(sql.FIND_OUTCOMES, parameters);
    return rows.flatMap(({ position, fingerprint, mutations, work_id: workId }) => {
      const key = keys[Number(position) - 1];
      return key === undefined ? [] : [{ key, fingerprint, mutations, workId }];
    });
  }

  /**
   * Remembers existing rows, with about the bytes of their texts. One that was not known may be one that the transaction has
   * inserted: it is remembered once that is committed, and the savepoint with it.
   */
  private remember(transaction: Transaction, rows: readonly RowSize[]): void {
    for (const [name, bytes] of rows) if (this.known.has(name)) this.known.set(name, bytes);
    const unknown = rows.filter(([name]) => !this.known.has(name));
    if (unknown.length === 0) return;
    transaction.afterCommit(() => {
      for (const [name, bytes] of unknown) this.known.set(name, bytes);
    });
  }

  private assertAllFound(names: readonly string[], found: number): void {
    if (found === names.length) return;
    for (const name of names) this.known.delete(name);
    throw new LostRaceError('A row of state was deleted');
  }
}

function documentsIn(
  { position, values, periods, system }: ParticipantRow,
  keys: readonly ParticipantKey[],
): LockedState['participants'] {
  const key = keys[Number(position) - 1];
  if (key === undefined) return [];
  return [{ key, document: { values, periods, system: { sessionId: system.sessionId ?? null } } }];
}

function valuesIn(
  { position, value, period_start: start }: SharedRow,
  keys: readonly SharedKey[],
): LockedState['shared'] {
  const key = keys[Number(position) - 1];
  if (key === undefined) return [];
  return [{ key, value: value === null || start === null ? value : new PeriodValue(value, start) }];
}

/** The moments of rows that were last changed ahead of the clock, by their names. */
function momentsAhead<Key>(
  rows: readonly LockedRow[],
  clockSeconds: number,
  keys: readonly Key[],
  nameOf: (key: Key) => string,
): ReadonlyMap<string, number> {
  const moments = new Map<string, number>();
  for (const { position, change_seconds: changeSeconds } of rows) {
    const key = keys[Number(position) - 1];
    if (key !== undefined && changeSeconds > clockSeconds) moments.set(nameOf(key), microsOf(changeSeconds));
  }
  return moments;
}

function microsOf(seconds: number): number {
  return Math.round(1_000_000 * seconds);
}

/** The database's clock after all locks, in epoch seconds. */
function latestClock(...lists: readonly (readonly LockedRow[])[]): number {
  let seconds = 0;
  for (const rows of lists) for (const row of rows) if (row.clock_seconds > seconds) seconds = row.clock_seconds;
  return seconds;
}
