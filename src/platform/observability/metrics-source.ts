import { Injectable } from '@nestjs/common';
import { Registry, collectDefaultMetrics } from 'prom-client';
import { snapshotOf, type MetricSnapshots } from './metric-snapshots';
import { Metrics } from './metrics';

/** The text of `GET /metrics`: of this process, or of all worker processes. */
@Injectable()
export class MetricsSource {
  private others: (() => Promise<string>) | undefined;
  private reading: Promise<string> | undefined;

  constructor(private readonly metrics: Metrics) {}

  /** From now on `read` returns the text, which covers all worker processes. */
  replaceBy(read: () => Promise<string>): void {
    this.others = read;
  }

  /** Concurrent callers share one reading: anybody may ask, and some numbers take a connection of the database each. */
  text(): Promise<string> {
    this.reading ??= (this.others === undefined ? this.own().metrics() : this.others()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** The metrics of this process alone, to be sent to another process. */
  async snapshots(): Promise<MetricSnapshots> {
    return snapshotOf(this.own());
  }

  private own(): Registry {
    return Registry.merge([this.metrics.registry, processMetrics()]);
  }
}

let registry: Registry | undefined;

/**
 * Memory, CPU, garbage collection, open files and the lag of the event loop, as `process_*` and `nodejs_*`. The library
 * cannot stop collecting them, so all applications in one process share one registry.
 */
function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
