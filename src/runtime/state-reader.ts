import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { PipelinedConnection } from '../platform/postgres/pipelined-connection';
import { GroupCommit } from '../platform/group-commit/group-commit';
import type { VariableValue } from '../variables/domain/variable';
import type { StateOwner } from './domain/state-owner';
import type { StateValues, SystemFields } from './domain/state-tree';
import { READ_STATES } from './state.sql';

const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_500;
/** So many take some milliseconds of the database. */
const READS_MAX = 200;
/** About the memory of a waiting read. */
const READ_BYTES = 500;

type Values = Readonly<Record<string, VariableValue>>;

interface StateRow {
  readonly user_values: Values | null;
  readonly system: { readonly sessionId?: string } | null;
  readonly campaign_values: Values | null;
  readonly app_values: Values | null;
}

/** The owner of the state to read. */
interface StateKey extends StateOwner {
  readonly tenantId: string;
}

/**
 * Reads state, on a connection of its own. Reads that arrive while a statement runs share the next statement. No read
 * can make that statement fail: the names of its owner were checked before.
 */
@Injectable()
export class StateReader implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly groupCommit: GroupCommit<StateKey, StateRow>;

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings, @Inject(SETTINGS_TOKEN) settings: Settings) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-state',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.groupCommit = new GroupCommit({
      run: (keys) => this.readAll(keys),
      singlesMax: READS_MAX,
      fillTo: 0,
      bytesMax: settings.laneBytesMax,
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.groupCommit.close();
    await this.connection.close();
  }

  /** Throws `unavailable` when too many reads are waiting. */
  async read(
    tenantId: string,
    { subject, campaignId, appId }: StateOwner,
  ): Promise<{ readonly values: StateValues; readonly system: SystemFields }> {
    const work = { tenantId, subject, campaignId, appId };
    const row = await this.groupCommit.submit(tenantId, { work, bytes: READ_BYTES });
    return {
      values: {
        user: mapOf(row.user_values),
        campaign: mapOf(row.campaign_values),
        app: mapOf(row.app_values),
      },
      system: { sessionId: row.system?.sessionId ?? null },
    };
  }

  private readAll(keys: readonly StateKey[]): Promise<readonly StateRow[]> {
    return this.connection.query<StateRow>(READ_STATES, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ subject }) => subject),
      keys.map(({ campaignId }) => campaignId),
      keys.map(({ appId }) => appId),
    ]);
  }
}

function mapOf(values: Values | null | undefined): ReadonlyMap<string, VariableValue> {
  return new Map(Object.entries(values ?? {}));
}
