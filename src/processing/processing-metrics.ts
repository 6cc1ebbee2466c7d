import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/values/clock';
import { Metrics, type MetricSample } from '../platform/observability/metrics';
import { QueueStatistics, type Backlog } from './queue-statistics';

type Reading = (backlog: Backlog) => readonly MetricSample[];

/**
 * The backlog of all processes, for `GET /metrics`: the same from each of them. Anybody may ask for it, so no workspace is named;
 * the numbers of one workspace are behind its credential (`GET /v1/processing/summary`).
 */
@Injectable()
export class ProcessingMetrics {
  private reading: Promise<Backlog> | undefined;

  constructor(
    private readonly figures: QueueStatistics,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.gauge(
      'cds_queue_events',
      'Stored events that wait to be processed, or are set aside',
      ['state'],
      (backlog) => {
        const { queued, parked } = backlog;
        return [
          { labels: { state: 'waiting' }, value: queued - parked },
          { labels: { state: 'parked' }, value: parked },
        ];
      },
    );
    this.gauge('cds_queue_oldest_seconds', 'How long the oldest event of the queue has waited', [], (backlog) => [
      { labels: {}, value: this.ageOf(backlog) },
    ]);
    this.gauge(
      'cds_events_waiting_for_customer',
      'Processed events with a reaction that waits for an EXTERNAL identifier, counted up to 100,000',
      [],
      ({ waitingForCustomer }) => [{ labels: {}, value: waitingForCustomer }],
    );
    this.gauge('cds_queue_processed_per_second', 'Events processed, over the last minute', [], (backlog) => [
      { labels: {}, value: rateOf(backlog) },
    ]);
  }

  private gauge(name: string, help: string, labels: readonly string[], read: Reading): void {
    this.metrics.gauge({ name, help, labels, together: 'max' }, async () => read(await this.backlog()));
  }

  /** All gauges are asked in one turn, and share one answer. */
  private backlog(): Promise<Backlog> {
    this.reading ??= this.figures.read().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private ageOf({ oldestQueuedAt }: Backlog): number {
    if (oldestQueuedAt === null) return 0;
    // It may have been stamped before the database's clock was set back.
    return Math.max(0, (this.clock.now().getTime() - oldestQueuedAt.getTime()) / 1_000);
  }
}

function rateOf({ processedLastMinute }: Backlog): number {
  return processedLastMinute / 60;
}
