import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { settledWithin } from './settled-within';

/** A value with its labels. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Description<Label extends string> {
  /** Begins with `cds_` and ends with its unit; `_total` for counters. */
  readonly name: string;
  readonly help: string;
  /** Labels with a short closed list of values: never a name that clients choose. Workspaces: only a few of the busiest. */
  readonly labels?: readonly Label[];
}

export interface GaugeDescription<Label extends string> extends Description<Label> {
  /**
   * How the values of several processes on one port are aggregated: `sum` for values of each process, `max` for values from the
   * database, `min` for conditions that all processes must meet.
   */
  readonly together: 'sum' | 'max' | 'min';
}

/** A scrape must not wait for an absent database. */
const READ_MS_MAX = 1_000;

/** From a thirtieth of a commit to the usual time-out of a client. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * The metrics of this process, for `GET /metrics`. A provider registers its own metrics in its constructor, each name once.
 * Label values come from closed lists, so that clients cannot create new series.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  counter<Label extends string>({ name, help, labels = [] }: Description<Label>): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
  }

  histogram<Label extends string>(
    { name, help, labels = [] }: Description<Label>,
    buckets: readonly number[] = SECONDS_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [this.registry] });
  }

  /**
   * A value that `read` returns at each scrape, within a second. Samples that it does not return are left out: a missing value
   * means unknown, never zero.
   */
  gauge<Label extends string>(
    { name, help, labels = [], together }: GaugeDescription<Label>,
    read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>,
  ): void {
    new Gauge({
      name,
      help,
      labelNames: [...labels],
      aggregator: together,
      registers: [this.registry],
      async collect() {
        const samples = await settledWithin(READ_MS_MAX, async () => read());
        this.reset();
        // The library starts a gauge without labels at zero.
        if (labels.length === 0) this.remove();
        for (const { labels: values, value } of samples ?? []) this.set(values as Record<Label, string>, value);
      },
    });
  }
}
