import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import { PipelinedConnection, type Statement } from '../postgres/pipelined-connection';
import { pendingMigrations } from '../postgres/schema/migrate';
import { ClockDifference } from '../observability/clock-difference';
import { Metrics } from '../observability/metrics';
import { settledWithin } from '../observability/settled-within';

/** A probe gets its answer within two seconds, whatever the database does. */
const CHECK_MS_MAX = 1_800;
const STATEMENT_TIMEOUT_MS = 1_000;

/** What keeps the service from being sent requests; `ready` when nothing does. */
export type ReadyState =
  'ready' | 'stopping' | 'database_away' | 'database_read_only' | 'migrations_pending' | 'clock_off';

/** A standby, and a server that was told to take no writes, say the same. */
const FIND_READ_ONLY: Statement = {
  name: 'health_read_only',
  text: `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only`,
};

/**
 * Whether this process should be sent requests. It asks on a connection of its own: a pool that is in use all over is a busy
 * service, not an absent database.
 */
@Injectable()
export class Readiness implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly stopping = new AbortController();
  private checking: Promise<ReadyState> | undefined;

  constructor(
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
    metrics: Metrics,
    private readonly difference: ClockDifference,
  ) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-health',
      lockTimeoutMs: STATEMENT_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    metrics.gauge(
      {
        name: 'cds_ready',
        help: '1 while the process can be sent requests, 0 for each reason why not',
        labels: ['reason'],
        together: 'min',
      },
      async () => {
        const state = await this.state();
        return [{ labels: { reason: state }, value: state === 'ready' ? 1 : 0 }];
      },
    );
  }

  /** From now on this process is not ready, whatever else holds. */
  stop(): void {
    this.stopping.abort();
  }

  /** Aborted once the process is told to stop: for work that takes long and can be taken up again. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Answers within two seconds. Of any number of callers at once one asks the database, and the others share the answer. */
  async state(): Promise<ReadyState> {
    if (this.stopped.aborted) return 'stopping';
    this.checking ??= this.ask().finally(() => {
      this.checking = undefined;
    });
    const { checking } = this;
    return (await settledWithin(CHECK_MS_MAX, () => checking)) ?? 'database_away';
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop();
    await this.connection.close();
  }

  private async ask(): Promise<ReadyState> {
    const [pending, [server]] = await Promise.all([
      pendingMigrations((statement) => this.connection.query(statement, [])),
      this.connection.query<{ is_read_only: boolean }>(FIND_READ_ONLY, []),
    ]);
    if (server?.is_read_only === true) {
      // The next look finds the server that the address leads to by then.
      await this.connection.close();
      return 'database_read_only';
    }
    if (pending > 0) return 'migrations_pending';
    return this.difference.isTooLarge() ? 'clock_off' : 'ready';
  }
}
