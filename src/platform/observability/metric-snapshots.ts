import { AggregatorRegistry, type Aggregator, type Registry } from 'prom-client';

/** A metric with its numbers, as one process tells it to another. */
export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How the numbers of several processes become one. */
  readonly aggregator: Aggregator;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string | number>> }[];
}

/** All that a process counts and measures. */
export type MetricSnapshots = readonly MetricSnapshot[];

export async function snapshotOf(registry: Registry): Promise<MetricSnapshots> {
  // The library declares numbers where it gives the words.
  const figures = (await registry.getMetricsAsJSON()) as unknown as MetricSnapshots;
  return figures.map((figure) => ({
    ...figure,
    // Of the lag of event loops it would take the average, which hides the one that is slow.
    aggregator: figure.aggregator === 'average' ? 'max' : figure.aggregator,
    // JSON has no word for what is not known yet.
    values: figure.values.filter(({ value }) => Number.isFinite(value)),
  }));
}

/** What only grows, and would seem to begin anew if it was left out once. */
export function onlyCumulative(figures: MetricSnapshots): MetricSnapshots {
  return figures.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** The numbers of several processes as those of one. */
export function joined(processes: Iterable<MetricSnapshots>): Registry {
  return AggregatorRegistry.aggregate([...processes]);
}
