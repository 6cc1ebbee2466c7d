import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import type { Commits } from '../platform/group-commit/group-commit';
import { GroupCommits } from '../platform/group-commit/group-commits';
import { SeveralShardsError, type PipelinedConnection } from '../platform/postgres/pipelined-connection';
import { type SharedScope, VARIABLE_SCOPES } from '../variables/domain/variable';
import { participantName } from './domain/state-keys';
import type { StateOwner } from './domain/state-owner';
import {
  valuesOf,
  type DeclaredVariables,
  type ParticipantDocument,
  expectedTextBytes,
  type StateValues,
  type StoredValues,
  type SystemFields,
  textBytesOf,
} from './domain/state-tree';
import { READ_STATES } from './state.sql';

const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_500;
/** So many take some milliseconds of the database. */
const READS_MAX = 200;
/** About the memory of a waiting read. */
const READ_BYTES = 500;
/** A variable beside its text: its name is asked for, found and answered. */
const VARIABLE_BYTES = 100;
/** Of one statement: some 10 ms of the event loop. A state may have 1.2 MB; one that is larger than this is read alone. */
const BATCH_BYTES_MAX = 256 * 1024;
/** Participants, and campaigns with an app, whose sizes this process knows. */
const KNOWN_SIZES_MAX = 20_000;

type Values = ParticipantDocument['values'];
type Periods = ParticipantDocument['periods'];

interface StateRow {
  readonly user_values: Values | null;
  readonly user_periods: Periods;
  readonly system: { readonly sessionId?: string } | null;
  readonly campaign_values: Values | null;
  readonly campaign_periods: Periods;
  readonly app_values: Values | null;
  readonly app_periods: Periods;
  readonly at: number;
}

/** What a participant sees, and when. */
export interface ReadState {
  readonly values: StateValues;
  readonly system: SystemFields;
  /** The database's time of the read, in epoch milliseconds. */
  readonly at: number;
}

/** What a read asks for. `campaignNames`, `appNames`: the shared variables that the campaign declares, as JSON lists. */
interface AskedVariables {
  readonly campaignNames: string;
  readonly appNames: string;
  /** In all scopes. */
  readonly count: number;
  /** Of a participant, and of campaign and app, whose values this process has not read. */
  readonly ownTextBytes: number;
  readonly sharedTextBytes: number;
}

/** The owner of the state to read, and the names of the shared variables. */
interface StateKey extends StateOwner, Pick<AskedVariables, 'campaignNames' | 'appNames'> {
  readonly tenantId: string;
}

/**
 * Reads state, on a connection of its own. Reads that arrive while a statement runs share the next statement. No read
 * can make that statement fail: the names of its owner were checked before.
 */
@Injectable()
export class StateReader implements BeforeApplicationShutdown {
  private readonly reads: Commits<StateKey, StateRow>;
  /** Declarations do not change: new ones are another object. */
  private readonly asked = new WeakMap<DeclaredVariables, AskedVariables>();
  /** By name: about the bytes of the texts, when they were read last. `max` would allocate all the memory at the start. */
  private readonly ownBytes = new LRUCache<string, number>({ maxSize: KNOWN_SIZES_MAX, sizeCalculation: () => 1 });
  private readonly sharedBytes = new LRUCache<string, number>({ maxSize: KNOWN_SIZES_MAX, sizeCalculation: () => 1 });

  constructor(groupCommits: GroupCommits, @Inject(SETTINGS_TOKEN) settings: Settings) {
    const options = {
      applicationName: 'cds-state',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      singlesMax: READS_MAX,
      fillTo: 0,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: settings.laneBytesMax,
    };
    this.reads = groupCommits.open(options, (connection) => (keys) => read(connection, keys));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.reads.close();
  }

  /** The values of declared variables. Throws `unavailable` when too many reads are waiting. */
  async read(
    tenantId: string,
    { subject, campaignId, appId }: StateOwner,
    declared: DeclaredVariables,
  ): Promise<ReadState> {
    const asked = this.askedOf(declared);
    const { campaignNames, appNames } = asked;
    const work = { tenantId, subject, campaignId, appId, campaignNames, appNames };
    const batchBytes = this.bytesOf(work, asked);
    const row = await this.reads.submit(tenantId, { work, bytes: READ_BYTES, batchBytes });
    this.rememberBytes(work, row);
    return {
      values: {
        user: storedValues(row.user_values, row.user_periods),
        campaign: storedValues(row.campaign_values, row.campaign_periods),
        app: storedValues(row.app_values, row.app_periods),
      },
      system: { sessionId: row.system?.sessionId ?? null },
      at: row.at,
    };
  }

  private askedOf(declared: DeclaredVariables): AskedVariables {
    const known = this.asked.get(declared);
    if (known !== undefined) return known;
    const made = askedVariables(declared);
    this.asked.set(declared, made);
    return made;
  }

  /** About the bytes that a read takes; its texts as they were read last, else as many as are expected. */
  private bytesOf(key: StateKey, { count, ownTextBytes, sharedTextBytes }: AskedVariables): number {
    const own = this.ownBytes.get(participantName(key)) ?? ownTextBytes;
    const shared = this.sharedBytes.get(sharedOwners(key)) ?? sharedTextBytes;
    return READ_BYTES + VARIABLE_BYTES * count + own + shared;
  }

  private rememberBytes(
    key: StateKey,
    { user_values: user, campaign_values: campaign, app_values: app }: StateRow,
  ): void {
    this.ownBytes.set(participantName(key), textBytesOf(user ?? {}));
    this.sharedBytes.set(sharedOwners(key), textBytesOf(campaign ?? {}) + textBytesOf(app ?? {}));
  }
}

function sharedOwners({ tenantId, campaignId, appId }: StateKey): string {
  return `${tenantId}/${campaignId}/${appId}`;
}

async function read(connection: PipelinedConnection, keys: readonly StateKey[]): Promise<readonly StateRow[]> {
  try {
    return await connection.query<StateRow>(READ_STATES, parametersOf(keys), keys);
  } catch (error) {
    if (!(error instanceof SeveralShardsError)) throw error;
    const rows: StateRow[] = [];
    for (const key of keys) rows.push(...(await read(connection, [key])));
    return rows;
  }
}

function parametersOf(keys: readonly StateKey[]): readonly string[][] {
  return [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ subject }) => subject),
    keys.map(({ campaignId }) => campaignId),
    keys.map(({ appId }) => appId),
    keys.map(({ campaignNames }) => campaignNames),
    keys.map(({ appNames }) => appNames),
  ];
}

function askedVariables(declared: DeclaredVariables): AskedVariables {
  return {
    campaignNames: namesOf(declared, 'campaign'),
    appNames: namesOf(declared, 'app'),
    count: VARIABLE_SCOPES.flatMap((scope) => Array.from(declared.of(scope))).length,
    ownTextBytes: expectedTextBytes(declared, ['user']),
    sharedTextBytes: expectedTextBytes(declared, ['campaign', 'app']),
  };
}

function namesOf(declared: DeclaredVariables, scope: SharedScope): string {
  return JSON.stringify(Array.from(declared.of(scope), ({ name }) => name));
}

function storedValues(values: Values | null, periods: Periods): StoredValues {
  return valuesOf({ values: values ?? {}, periods });
}
