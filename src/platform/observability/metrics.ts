import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { settledWithin } from './settled-within';

/** A number with the labels that tell it from its siblings. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Description<Label extends string> {
  /** Begins with `cds_`, ends with its unit; `_total` for what only grows. */
  readonly name: string;
  readonly help: string;
  /** Each of a short closed list: never a source, campaign or anything else that clients choose; workspaces only as a few of the busiest. */
  readonly labels?: readonly Label[];
}

export interface GaugeDescription<Label extends string> extends Description<Label> {
  /**
   * How the values of several processes on one port become one: `sum` for what each has of its own, `max` for what is the
   * same in the database whoever looks, `min` for what must hold in all.
   */
  readonly together: 'sum' | 'max' | 'min';
}

/** An answer to Prometheus must not wait for a database that is away. */
const READ_MS_MAX = 1_000;

/** From a thirtieth of a commit to the patience of a client. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/**
 * What this process counts and measures, for `GET /metrics`. A room asks for its own numbers when it is made; of each name
 * there is one. Whatever is labelled is labelled from closed lists, so that clients cannot make the list grow.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  /** Something that happens, and is counted. */
  counter<Label extends string>({ name, help, labels = [] }: Description<Label>): Counter<Label> {
    return new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
  }

  /** How long something takes, or how large it is. */
  histogram<Label extends string>(
    { name, help, labels = [] }: Description<Label>,
    buckets: readonly number[] = SECONDS_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [this.registry] });
  }

  /**
   * How things stand now: `read` is asked whenever somebody looks, and gets a second. What it cannot tell is left out, so
   * that an absent number is an unknown one and never a zero.
   */
  gauge<Label extends string>(
    { name, help, labels = [], together }: GaugeDescription<Label>,
    read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>,
  ): void {
    new Gauge({
      ...{ name, help, labelNames: [...labels], aggregator: together, registers: [this.registry] },
      async collect() {
        const samples = await settledWithin(READ_MS_MAX, async () => read());
        this.reset();
        // The library begins a gauge without labels with a zero.
        if (labels.length === 0) this.remove();
        for (const { labels: values, value } of samples ?? []) this.set(values as Record<Label, string>, value);
      },
    });
  }
}
