import type { Worker } from 'node:cluster';
import { AggregatedMetrics, type MetricSnapshots } from '../../platform/observability/metric-snapshots';

/** Longer than a gauge may take (`Metrics`), and short enough to answer in two seconds. */
const SNAPSHOT_MS_MAX = 1_500;

/**
 * The messages between workers and the primary process for `GET /metrics`. A worker requests the metrics of all workers; the
 * primary then requests a snapshot from each worker. The number is the id of the request that a message makes or answers.
 */
export type FromWorker =
  { readonly requestMetrics: number } | { readonly answerSnapshots: number; readonly snapshots: MetricSnapshots };
export type ToWorker =
  { readonly requestSnapshots: number } | { readonly answerMetrics: number; readonly metrics: string };

/** Runs in the primary process. Collects the metrics of all workers for the one that has received `GET /metrics`. */
export class ClusterMetrics {
  private readonly serving = new Map<number, Worker>();
  private readonly aggregated = new AggregatedMetrics();
  private collecting: Promise<string> | undefined;
  private lastRequest = 0;

  constructor(private readonly count: number) {}

  /** Includes a worker from its first message until its end. */
  add(worker: Worker): void {
    worker.once('message', () => {
      if (!worker.isDead()) this.serving.set(worker.id, worker);
    });
    worker.once('exit', () => this.serving.delete(worker.id));
    worker.on('message', (message: FromWorker) => {
      if ('requestMetrics' in message) void this.answer(worker, message.requestMetrics);
    });
  }

  /** Concurrent requests share one collection. */
  private async answer(worker: Worker, request: number): Promise<void> {
    this.collecting ??= this.collect().finally(() => {
      this.collecting = undefined;
    });
    // Without an answer the worker reports the failure itself.
    const metrics = await this.collecting.catch(() => undefined);
    if (metrics !== undefined) send(worker, { answerMetrics: request, metrics });
  }

  private async collect(): Promise<string> {
    this.lastRequest += 1;
    const request = this.lastRequest;
    const received = new Map<number, MetricSnapshots>();
    const requests = [...this.serving.values()]
      .filter((worker) => worker.isConnected())
      .map(async (worker) => {
        const snapshots = await snapshotsFrom(worker, request);
        if (snapshots !== undefined) received.set(worker.id, snapshots);
      });
    await Promise.all(requests);
    return this.aggregated.text(received, new Set(this.serving.keys()), this.count - received.size);
  }
}

/** Undefined when the worker ends or takes too long. */
async function snapshotsFrom(worker: Worker, request: number): Promise<MetricSnapshots | undefined> {
  return new Promise((resolve) => {
    const finish = (snapshots?: MetricSnapshots): void => {
      clearTimeout(timeout);
      worker.off('message', onMessage);
      worker.off('exit', onExit);
      resolve(snapshots);
    };
    const onMessage = (message: FromWorker): void => {
      if ('answerSnapshots' in message && message.answerSnapshots === request) finish(message.snapshots);
    };
    const onExit = (): void => finish();
    const timeout = setTimeout(onExit, SNAPSHOT_MS_MAX);
    worker.on('message', onMessage);
    worker.once('exit', onExit);
    send(worker, { requestSnapshots: request });
  });
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
