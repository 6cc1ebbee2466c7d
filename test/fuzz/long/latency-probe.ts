import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What another client has seen since the last look. */
export interface Seen {
  readonly slowestMs: number;
  /** Events that were accepted. */
  readonly answers: number;
  /** Events that were not. */
  readonly failures: number;
}

/** A client of another workspace, in a thread of its own, that sends one event after the other. */
export class LatencyProbe {
  private readonly worker: Worker;

  constructor(service: { readonly url: string; readonly key: string | undefined }) {
    this.worker = new Worker(join(__dirname, 'latency-probe-thread.cjs'), { workerData: service });
  }

  async look(): Promise<Seen> {
    const seen = once(this.worker, 'message');
    this.worker.postMessage('look');
    const [found] = (await seen) as [Seen];
    return found;
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}
