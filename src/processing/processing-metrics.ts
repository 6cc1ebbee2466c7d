import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock/clock';
import { Metrics, type Sample } from '../platform/observability/metrics';
import { ProcessingFigures, type Backlog, type ProcessingFigure } from './processing-figures';

type Reading = (backlog: Backlog) => readonly Sample[];

/**
 * The backlog of all processes, for `GET /metrics`: the same from each of them. Workspaces are told apart by their ids, the 20
 * with the most queued events alone.
 */
@Injectable()
export class ProcessingMetrics {
  private reading: Promise<Backlog> | undefined;

  constructor(
    private readonly figures: ProcessingFigures,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {
    this.ofAll();
    this.ofWorkspaces();
  }

  private ofAll(): void {
    this.gauge(
      'cds_queue_events',
      'Stored events that wait to be processed, or are set aside',
      ['state'],
      (backlog) => {
        const { queued, parked } = backlog.total;
        return [
          { labels: { state: 'waiting' }, value: queued - parked },
          { labels: { state: 'parked' }, value: parked },
        ];
      },
    );
    this.gauge('cds_queue_oldest_seconds', 'How long the oldest event of the queue has waited', [], ({ total }) => [
      { labels: {}, value: this.ageOf(total) },
    ]);
    this.gauge('cds_queue_processed_per_second', 'Events processed, over the last minute', [], ({ total }) => [
      { labels: {}, value: rateOf(total) },
    ]);
  }

  private ofWorkspaces(): void {
    const gauge = (name: string, help: string, valueOf: (figure: ProcessingFigure) => number): void => {
      this.gauge(name, `${help}, of the 20 workspaces with the most queued events`, ['workspace'], ({ workspaces }) =>
        workspaces.map((figure) => ({ labels: { workspace: figure.tenantId }, value: valueOf(figure) })),
      );
    };
    gauge('cds_workspace_queue_events', 'Events that are queued', ({ queued }) => queued);
    gauge('cds_workspace_queue_oldest_seconds', 'How long the oldest has waited', (figure) => this.ageOf(figure));
    gauge('cds_workspace_processed_per_second', 'Events processed over the last minute', rateOf);
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

  private ageOf({ oldestQueuedAt }: ProcessingFigure): number {
    if (oldestQueuedAt === null) return 0;
    // The database's clock may be ahead of this one's.
    return Math.max(0, (this.clock.now().getTime() - oldestQueuedAt.getTime()) / 1_000);
  }
}

function rateOf({ processedLastMinute }: ProcessingFigure): number {
  return processedLastMinute / 60;
}
