import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AnsweredEvents } from '../ingest/answered-events';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { sqlStateOf } from '../platform/postgres/database-errors';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { UNKNOWN_NAME } from './domain/group-names';
import { OutcomeCounts } from './domain/outcome-counts';
import { ADD_OUTCOMES, READ_TRANSACTION, READ_TRANSACTION_STATE } from './statistics.sql';

const FLUSH_MS = 1_000;
/** The database has never begun the transaction: it is another server than before, after a failover. */
const INVALID_PARAMETER = '22023';

/** The parameters of a flush, and the transaction of its last attempt. */
interface Flush {
  readonly parameters: readonly unknown[];
  transaction?: string;
}

/**
 * Counts duplicates and refusals of this process in memory and stores them once a second, and when it stops: a killed process
 * loses those of the last second (contract section 11). Each flush inserts rows of its own, so processes never wait for each
 * other.
 */
@Injectable()
export class OutcomeRecorder implements OnModuleInit, BeforeApplicationShutdown {
  private readonly counts = new OutcomeCounts();
  private readonly outage = new OutageLog(new Logger(OutcomeRecorder.name), {
    began: 'Counts of duplicates and refusals cannot be stored now; they are kept in memory.',
    ended: 'Counts of duplicates and refusals are stored again.',
  });
  /** A flush that has not succeeded yet. It is repeated as it is, unless it was committed. */
  private unsent: Flush | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly answered: AnsweredEvents,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.answered.listen(({ tenantId, family, source, eventType }, outcome) => {
      const names = { source: source ?? UNKNOWN_NAME, eventType: eventType ?? UNKNOWN_NAME };
      this.counts.add(tenantId, family, names, outcome);
    });
    this.timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** All requests are answered by then, and the database is still there. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** Stores what was counted before the call, if the database is there. */
  flush(): Promise<void> {
    return (this.flushing = this.flushing.then(() => this.flushOnce()));
  }

  private async flushOnce(): Promise<void> {
    try {
      // What a failed flush has left, and what was counted since.
      if (this.unsent !== undefined) await this.send(this.unsent);
      this.unsent = this.takeFlush(this.clock.now());
      if (this.unsent !== undefined) await this.send(this.unsent);
      this.outage.succeeded();
    } catch (error) {
      this.outage.failed(describeError(error).line);
    }
  }

  private async send(flush: Flush): Promise<void> {
    if (!(await this.wasCommitted(flush))) await this.database.transaction((manager) => this.insert(manager, flush));
    this.unsent = undefined;
  }

  private async insert(manager: EntityManager, flush: Flush): Promise<void> {
    const [row]: { id: string }[] = await manager.query(READ_TRANSACTION);
    if (row !== undefined) flush.transaction = row.id;
    await manager.query(ADD_OUTCOMES, [...flush.parameters]);
  }

  /** The rows of a flush may have left the table since: another process has counted them. Throws while it is under way. */
  private async wasCommitted({ transaction }: Flush): Promise<boolean> {
    if (transaction === undefined) return false;
    try {
      const [row]: { state: string | null }[] = await this.database.query(READ_TRANSACTION_STATE, [transaction]);
      if (row?.state === 'in progress') throw new Error('The transaction of the last attempt is still open');
      return row?.state === 'committed';
    } catch (error) {
      if (sqlStateOf(error) === INVALID_PARAMETER) return false;
      throw error;
    }
  }

  private takeFlush(now: Date): Flush | undefined {
    const taken = this.counts.take(now.getTime());
    if (taken.length === 0) return undefined;
    const parameters = [
      taken.map(({ tenantId }) => tenantId),
      now,
      taken.map(() => newId()),
      taken.map(({ family }) => family),
      taken.map(({ source }) => source),
      taken.map(({ eventType }) => eventType),
      taken.map(({ duplicate }) => duplicate),
      taken.map(({ refused }) => refused),
    ];
    return { parameters };
  }
}
