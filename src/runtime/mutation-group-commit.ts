import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { PipelinedConnection } from '../platform/postgres/pipelined-connection';
import { GroupCommit, type SizedWork } from '../platform/group-commit/group-commit';
import { isPassing, persistBatch } from '../platform/group-commit/persist-batch';
import { GroupCommitMetrics } from '../platform/group-commit/group-commit-metrics';
import type { MutationWorkOutcome, MutationWork } from './domain/mutation-work';
import { MutationTransaction } from './mutation-transaction';

/** Nodes take turns on a busy counter, each for the time of a commit; one that hangs must not hold up the others. */
const LOCK_TIMEOUT_MS = 250;
const STATEMENT_TIMEOUT_MS = 1_500;
/** A participant is told to send again rather than left waiting. */
const PATIENCE_MS = 1_500;
const MUTATIONS_MAX = 400;
/** Each value is written and answered three times over; a batch of this size takes some 20 ms of the event loop. */
const BATCH_BYTES_MAX = 160 * 1024;

/**
 * The way of every mutation into the database: group commit, so that a counter everybody adds to is written once a batch.
 * What goes wrong with one mutation costs no other its answer.
 */
@Injectable()
export class MutationGroupCommit implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;
  private readonly lane: GroupCommit<MutationWork, MutationWorkOutcome>;

  constructor(
    private readonly transaction: MutationTransaction,
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    watches: GroupCommitMetrics,
  ) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-mutations',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    this.lane = new GroupCommit({
      run: (batch) => this.persist(batch),
      singlesMax: MUTATIONS_MAX,
      fillTo: MUTATIONS_MAX,
      batchBytesMax: BATCH_BYTES_MAX,
      bytesMax: settings.laneBytesMax,
      watch: watches.of('mutations'),
    });
  }

  /** Applies one mutation; the answer comes after the commit. Throws `unavailable` when too much is waiting already. */
  apply(work: SizedWork<MutationWork>): Promise<MutationWorkOutcome> {
    return this.lane.submit(work.work.tenantId, work);
  }

  /** What is waiting is still applied and answered; the server has stopped taking requests by then. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.lane.close();
    await this.connection.close();
  }

  private persist(batch: readonly MutationWork[]): Promise<readonly MutationWorkOutcome[]> {
    return persistBatch<MutationWork, MutationWorkOutcome>(batch, {
      attempt: (works) => this.connection.transaction((open) => this.transaction.run(open, works)),
      refuse: (_work, error) => {
        if (isPassing(error)) return { status: 'unavailable' };
        throw error;
      },
      patienceMs: PATIENCE_MS,
    });
  }
}
