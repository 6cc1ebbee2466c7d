import { AggregatorRegistry, type Aggregator, type Registry, Gauge } from 'prom-client';

/** A metric with its numbers, as one process tells it to another. */
interface MetricSnapshot {
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
function onlyCumulative(figures: MetricSnapshots): MetricSnapshots {
  return figures.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** The numbers of several processes as those of one. */
function joined(processes: Iterable<MetricSnapshots>): Registry {
  return AggregatorRegistry.aggregate([...processes]);
}

/**
 * The numbers of processes that come and go, told as those of one. Counters never fall, because Prometheus would take that
 * for a restart and count everything again: of a process that is silent, or has ended, they stay as it told them last. Its
 * gauges are left out.
 */
export class JointMetrics {
  private readonly lastTold = new Map<number, MetricSnapshots>();
  private ofEnded: MetricSnapshots = [];

  /**
   * The text for Prometheus; one call after the other. `told` is by process what each has told just now, `running` are all
   * processes that there are, `missing` is how many should have told something and have not.
   */
  async text(
    told: ReadonlyMap<number, MetricSnapshots>,
    running: ReadonlySet<number>,
    missing: number,
  ): Promise<string> {
    for (const [process, figures] of told) this.lastTold.set(process, onlyCumulative(figures));
    const silent = [...this.lastTold].filter(([process]) => !told.has(process));
    const registry = joined([...told.values(), ...silent.map(([, figures]) => figures), this.ofEnded]);
    const help = 'Worker processes that are not running or did not tell their numbers in time';
    new Gauge({ name: 'cds_workers_missing', help, registers: [registry] }).set(missing);
    await this.fold(silent.filter(([process]) => !running.has(process)));
    return registry.metrics();
  }

  private async fold(ended: readonly (readonly [number, MetricSnapshots])[]): Promise<void> {
    if (ended.length === 0) return;
    this.ofEnded = await snapshotOf(joined([this.ofEnded, ...ended.map(([, figures]) => figures)]));
    for (const [process] of ended) this.lastTold.delete(process);
  }
}
