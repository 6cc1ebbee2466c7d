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
/** Some milliseconds' worth of the database. */
const READS_MAX = 200;
/** What a read takes of memory while it waits, about. */
const READ_BYTES = 500;

type Values = Readonly<Record<string, VariableValue>>;

interface StateRow {
  readonly user_values: Values | null;
  readonly system: { readonly sessionId?: string } | null;
  readonly campaign_values: Values | null;
  readonly app_values: Values | null;
}

/** Whose state is read. */
interface Wanted extends StateOwner {
  readonly tenantId: string;
}

/**
 * Reads state, on a connection of its own. Reads that come in while others are under way share the next statement. None of them
 * can fail by itself: what names an owner was checked before.
 */
@Injectable()
export class StateReader implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly lane: GroupCommit<Wanted, StateRow>;

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings, @Inject(SETTINGS_TOKEN) settings: Settings) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-state',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.lane = new GroupCommit({
      run: (wanted) => this.readAll(wanted),
      singlesMax: READS_MAX,
      fillTo: 0,
      bytesMax: settings.laneBytesMax,
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.lane.close();
    await this.connection.close();
  }

  /** Throws `unavailable` when too much is waiting already. */
  async read(
    tenantId: string,
    { subject, campaignId, appId }: StateOwner,
  ): Promise<{ readonly values: StateValues; readonly system: SystemFields }> {
    const work = { tenantId, subject, campaignId, appId };
    const row = await this.lane.submit(tenantId, { work, bytes: READ_BYTES });
    return {
      values: {
        user: mapOf(row.user_values),
        campaign: mapOf(row.campaign_values),
        app: mapOf(row.app_values),
      },
      system: { sessionId: row.system?.sessionId ?? null },
    };
  }

  private readAll(wanted: readonly Wanted[]): Promise<readonly StateRow[]> {
    return this.connection.query<StateRow>(READ_STATES, [
      wanted.map(({ tenantId }) => tenantId),
      wanted.map(({ subject }) => subject),
      wanted.map(({ campaignId }) => campaignId),
      wanted.map(({ appId }) => appId),
    ]);
  }
}

function mapOf(values: Values | null | undefined): ReadonlyMap<string, VariableValue> {
  return new Map(Object.entries(values ?? {}));
}
