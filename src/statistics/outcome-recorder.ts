import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IngestOutcomes } from '../ingest/http/ingest-outcomes';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { UNKNOWN_NAME } from './domain/group-names';
import { OutcomeCounts } from './domain/outcome-counts';
import { ADD_OUTCOMES } from './statistics.sql';

const FLUSH_MS = 1_000;

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
  /** The parameters of a flush that has not succeeded yet. It is repeated as it is: it may have been committed. */
  private unsent: readonly unknown[] | undefined;
  private flushing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly outcomes: IngestOutcomes,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.outcomes.listen(({ tenantId, family, source, eventType }, outcome, events) => {
      const names = { source: source ?? UNKNOWN_NAME, eventType: eventType ?? UNKNOWN_NAME };
      this.counts.add(tenantId, family, names, outcome, events);
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
      this.unsent = this.parametersOf(this.clock.now());
      if (this.unsent !== undefined) await this.send(this.unsent);
      this.outage.succeeded();
    } catch (error) {
      this.outage.failed(describeError(error).line);
    }
  }

  private async send(parameters: readonly unknown[]): Promise<void> {
    await this.database.query(ADD_OUTCOMES, [...parameters]);
    this.unsent = undefined;
  }

  private parametersOf(now: Date): readonly unknown[] | undefined {
    const taken = this.counts.take(now.getTime());
    if (taken.length === 0) return undefined;
    return [
      taken.map(({ tenantId }) => tenantId),
      now,
      taken.map(() => newId()),
      taken.map(({ family }) => family),
      taken.map(({ source }) => source),
      taken.map(({ eventType }) => eventType),
      taken.map(({ duplicate }) => duplicate),
      taken.map(({ refused }) => refused),
    ];
  }
}
