import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import { isReadOnly } from '../postgres/database-errors';
import type { Statement } from '../postgres/statement';
import { PipelinedConnection } from '../postgres/pipelined-connection';
import { pendingMigrations } from '../postgres/schema/migrate';
import { ClockDifference } from '../observability/clock-difference';
import { Metrics } from '../observability/metrics';
import { settledWithin } from '../observability/settled-within';

/** A probe gets its answer within two seconds, also when the database does not answer. */
const CHECK_MS_MAX = 1_800;
const STATEMENT_TIMEOUT_MS = 1_000;

/** Why the process cannot serve; `ready` when it can. */
export type ReadyState =
  'ready' | 'stopping' | 'database_away' | 'database_read_only' | 'migrations_pending' | 'clock_off';

/** True on a standby, and on a server with `default_transaction_read_only`. */
const FIND_READ_ONLY: Statement = {
  name: 'health_read_only',
  text: `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only`,
};

/**
 * Whether this process can serve requests. It uses its own connection: an exhausted pool means a busy service, not an absent
 * database.
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

  /** Makes this process not ready for good. */
  stop(): void {
    this.stopping.abort();
  }

  /** Aborted when the process begins to stop. For long work that can be resumed later. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** Answers within two seconds. Concurrent callers share one check of the database. */
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
    try {
      return await this.look();
    } catch (error) {
      if (isReadOnly(error)) return 'database_read_only';
      throw error;
    }
  }

  private async look(): Promise<ReadyState> {
    const [pending, [server]] = await Promise.all([
      pendingMigrations((statement) => this.connection.query(statement, [])),
      this.connection.query<{ is_read_only: boolean }>(FIND_READ_ONLY, []),
    ]);
    if (server?.is_read_only === true) {
      // The next check connects again: after a failover the address leads to another server.
      await this.connection.close();
      return 'database_read_only';
    }
    if (pending > 0) return 'migrations_pending';
    return this.difference.isTooLarge() ? 'clock_off' : 'ready';
  }
}
