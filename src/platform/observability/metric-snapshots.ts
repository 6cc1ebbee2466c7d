import { AggregatorRegistry, type Aggregator, type Registry, Gauge } from 'prom-client';

/** A metric with its values, as one process sends it to another. */
interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How the values of several processes are aggregated. */
  readonly aggregator: Aggregator;
  readonly values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string | number>> }[];
}

/** All metrics of a process. */
export type MetricSnapshots = readonly MetricSnapshot[];

export async function snapshotOf(registry: Registry): Promise<MetricSnapshots> {
  // The library declares `type` as a number, and returns its name.
  const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricSnapshots;
  return metrics.map((metric) => ({
    ...metric,
    // The library averages the lag of event loops, which hides a slow process.
    aggregator: metric.aggregator === 'average' ? 'max' : metric.aggregator,
    // JSON has no NaN, the value of a metric without samples.
    values: metric.values.filter(({ value }) => Number.isFinite(value)),
  }));
}

/** Counters and histograms. Prometheus would take a missing value for a restart. */
function onlyCumulative(snapshots: MetricSnapshots): MetricSnapshots {
  return snapshots.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** The metrics of several processes, aggregated. */
function aggregated(processes: Iterable<MetricSnapshots>): Registry {
  return AggregatorRegistry.aggregate([...processes]);
}

/**
 * Aggregates the metrics of processes that start and end. Counters never fall, because Prometheus would take that for a
 * restart and count everything again: for a process that has ended or does not answer, the last known counters stay. Its
 * gauges are left out.
 */
export class AggregatedMetrics {
  private readonly lastKnown = new Map<number, MetricSnapshots>();
  private ofEnded: MetricSnapshots = [];

  /**
   * The text for Prometheus. Calls must not overlap. `received`: the snapshots that processes have just sent, by process id.
   * `running`: the ids of all processes. `missing`: how many did not answer.
   */
  async text(
    received: ReadonlyMap<number, MetricSnapshots>,
    running: ReadonlySet<number>,
    missing: number,
  ): Promise<string> {
    for (const [process, snapshots] of received) this.lastKnown.set(process, onlyCumulative(snapshots));
    const silent = [...this.lastKnown].filter(([process]) => !received.has(process));
    const registry = aggregated([...received.values(), ...silent.map(([, snapshots]) => snapshots), this.ofEnded]);
    const help = 'Worker processes that are not running or did not send their metrics in time';
    new Gauge({ name: 'cds_workers_missing', help, registers: [registry] }).set(missing);
    await this.fold(silent.filter(([process]) => !running.has(process)));
    return registry.metrics();
  }

  private async fold(ended: readonly (readonly [number, MetricSnapshots])[]): Promise<void> {
    if (ended.length === 0) return;
    this.ofEnded = await snapshotOf(aggregated([this.ofEnded, ...ended.map(([, snapshots]) => snapshots)]));
    for (const [process] of ended) this.lastKnown.delete(process);
  }
}
