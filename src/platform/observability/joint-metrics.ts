import { Gauge } from 'prom-client';
import { snapshotOf, onlyCumulative, joined, type MetricSnapshots } from './metric-snapshots';

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
