import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/values/clock';
import { Metrics, type MetricSample } from '../platform/observability/metrics';
import { QueueStatistics, type Backlog } from './queue-statistics';

type Reading = (backlog: Backlog) => readonly MetricSample[];

/** Less than a scrape waits for a number. */
const READ_MS_MAX = 800;
/** A backlog that was read later than this stands in while the next one is being read: two scrapes of a minute. */
const STAND_IN_MS_MAX = 120_000;

/**
 * The backlog of the whole installation, for `GET /metrics`: the same from every process. That route needs no
 * credential, so it names no workspace; `GET /v1/processing/summary` shows the numbers of one.
 */
@Injectable()
export class ProcessingMetrics {
  private reading: Promise<Backlog> | undefined;
  private last: { readonly backlog: Backlog; readonly readAtMs: number } | undefined;

  constructor(
    private readonly statistics: QueueStatistics,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.gauge(
      'cds_queue_events',
      'Stored events that are not processed yet, by state: waiting, or parked for another attempt',
      ['state'],
      (backlog) => {
        const { queued, parked } = backlog;
        return [
          { labels: { state: 'waiting' }, value: queued - parked },
          { labels: { state: 'parked' }, value: parked },
        ];
      },
    );
    this.gauge('cds_queue_oldest_seconds', 'Age of the oldest event in the queue', [], (backlog) => [
      { labels: {}, value: this.ageOf(backlog) },
    ]);
    this.gauge(
      'cds_events_waiting_for_customer',
      'Processed events with a reaction that waits for an EXTERNAL identifier, counted up to 100,000',
      [],
      ({ waitingForCustomer }) => [{ labels: {}, value: waitingForCustomer }],
    );
    this.gauge('cds_queue_processed_per_second', 'Events processed per second, over the last minute', [], (backlog) => [
      { labels: {}, value: rateOf(backlog) },
    ]);
  }

  private gauge(name: string, help: string, labels: readonly string[], read: Reading): void {
    this.metrics.gauge({ name, help, labels, together: 'max' }, async () => read(await this.backlog()));
  }

  /**
   * All gauges are read in one turn of the event loop, and share one query. With millions of queued events it takes longer than
   * a scrape waits, and the numbers are needed most: then those of the query before are shown.
   */
  private async backlog(): Promise<Backlog> {
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    const { reading } = this;
    const standIn = wait(READ_MS_MAX, undefined, { ref: false }).then(() => this.recent());
    return (await Promise.race([reading, standIn])) ?? reading;
  }

  private async read(): Promise<Backlog> {
    const backlog = await this.statistics.read();
    this.last = { backlog, readAtMs: this.clock.monotonicMs() };
    return backlog;
  }

  private recent(): Backlog | undefined {
    const { last } = this;
    return last !== undefined && this.clock.monotonicMs() - last.readAtMs < STAND_IN_MS_MAX ? last.backlog : undefined;
  }

  private ageOf({ oldestQueuedAt }: Backlog): number {
    if (oldestQueuedAt === null) return 0;
    // The database's clock may have been set back since.
    return Math.max(0, (this.clock.now().getTime() - oldestQueuedAt.getTime()) / 1_000);
  }
}

function rateOf({ processedLastMinute }: Backlog): number {
  return processedLastMinute / 60;
}
