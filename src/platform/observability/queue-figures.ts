import { Injectable } from '@nestjs/common';
import { Metrics, type Sample } from './metrics';

/** How the queue of stored events stands, over all processes. */
export interface QueueState {
  /** Events that wait for campaign logic. */
  readonly waiting: number;
  /** Events that were set aside after they failed, and those behind them. */
  readonly parked: number;
  /** How long the oldest that waits has waited; 0 when none does. */
  readonly oldestSeconds: number;
}

/** Where whoever processes events says how far behind it is; nothing is told until somebody does. */
@Injectable()
export class QueueFigures {
  private read: (() => Promise<QueueState>) | undefined;
  private reading: Promise<QueueState> | undefined;

  constructor(metrics: Metrics) {
    metrics.gauge(
      {
        name: 'cds_queue_events',
        help: 'Stored events that wait to be processed, or are set aside',
        labels: ['state'],
      },
      () => this.samples(({ waiting, parked }) => [sample(waiting, 'waiting'), sample(parked, 'parked')]),
    );
    metrics.gauge(
      { name: 'cds_queue_oldest_seconds', help: 'How long the oldest event that waits to be processed has waited' },
      () => this.samples(({ oldestSeconds }) => [{ labels: {}, value: oldestSeconds }]),
    );
  }

  /** `read` is asked once whenever somebody looks, and gets a second. */
  watch(read: () => Promise<QueueState>): void {
    this.read = read;
  }

  private async samples(choose: (state: QueueState) => Sample[]): Promise<Sample[]> {
    if (this.read === undefined) return [];
    // Both numbers are asked for in one turn, and the second one shares the answer.
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    return choose(await this.reading);
  }
}

function sample(value: number, state: string): Sample {
  return { labels: { state }, value };
}
