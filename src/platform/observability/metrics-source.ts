import { Injectable } from '@nestjs/common';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { snapshotOf, type MetricSnapshots } from './metric-snapshots';
import { Metrics } from './metrics';

/** Where `GET /metrics` gets its text: from this process, unless somebody knows more. */
@Injectable()
export class MetricsSource {
  private others: (() => Promise<string>) | undefined;

  constructor(private readonly metrics: Metrics) {}

  /** From now on `read` is asked, which knows of all processes that serve together. */
  replaceBy(read: () => Promise<string>): void {
    this.others = read;
  }

  async text(): Promise<string> {
    return this.others === undefined ? this.own().metrics() : this.others();
  }

  /** What this process alone counts and measures, to be told to another. */
  async figures(): Promise<MetricSnapshots> {
    return snapshotOf(this.own());
  }

  private own(): Registry {
    return Registry.merge([this.metrics.registry, processMetrics()]);
  }
}

let registry: Registry | undefined;

/**
 * Memory, CPU, garbage collection, open files and the lag of the event loop, as `process_*` and `nodejs_*`. They belong to
 * the process, and watching them cannot be ended: of any number of services in one process there is one watcher.
 */
function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
