import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/database/connection-settings';
import { PipelinedConnection } from '../platform/database/pipelined-connection';
import type { VariableValue } from '../variables/domain/variable';
import type { StateOwner } from './domain/state-owner';
import type { StateValues, SystemFields } from './domain/state-tree';
import { READ_STATE } from './state.sql';

const LOCK_TIMEOUT_MS = 100;
const STATEMENT_TIMEOUT_MS = 1_500;

type Values = Readonly<Record<string, VariableValue>>;

interface StateRow {
  readonly user_values: Values | null;
  readonly system: { readonly sessionId?: string } | null;
  readonly campaign_values: Values | null;
  readonly app_values: Values | null;
}

/** Reads state: one statement and one round trip, on a connection of its own that reads share without waiting for each other. */
@Injectable()
export class StateReader implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-state',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }

  async read(
    tenantId: string,
    { subject, campaignId, appId }: StateOwner,
  ): Promise<{ readonly values: StateValues; readonly system: SystemFields }> {
    const [row] = await this.connection.query<StateRow>(READ_STATE, [tenantId, subject, campaignId, appId]);
    return {
      values: {
        user: mapOf(row?.user_values),
        campaign: mapOf(row?.campaign_values),
        app: mapOf(row?.app_values),
      },
      system: { sessionId: row?.system?.sessionId ?? null },
    };
  }
}

function mapOf(values: Values | null | undefined): ReadonlyMap<string, VariableValue> {
  return new Map(Object.entries(values ?? {}));
}
