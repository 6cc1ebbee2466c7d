import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { PipelinedConnection, type Transaction } from '../platform/postgres/pipelined-connection';
import { KeyedMutex } from '../platform/async/keyed-mutex';

/** A worker releases a lease after a batch. */
const LOCK_TIMEOUT_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 5_000;

/** A connection for single events that are processed beside the worker, one after the other: retries and replays. */
@Injectable()
export class SerialConnection implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly mutex = new KeyedMutex();

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-retries',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  }

  /** Runs `work` in a transaction of a workspace, after earlier calls. Throws `unavailable` when the wait is too long. */
  transaction<T>(tenantId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive('connection', () => this.connection.transaction(work, [{ tenantId }]));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
