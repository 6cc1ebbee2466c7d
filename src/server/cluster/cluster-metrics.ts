import type { Worker } from 'node:cluster';
import { type MetricSnapshots, JointMetrics } from '../../platform/observability/metric-snapshots';

/** Longer than a gauge may take (`Metrics`), and short enough to answer in two seconds. */
const TELL_MS_MAX = 1_500;

/** What workers and the first process send each other for `GET /metrics`; a number is that of the question. */
export type FromWorker =
  { readonly wantsMetrics: number } | { readonly toldFigures: number; readonly figures: MetricSnapshots };
export type ToWorker = { readonly wantsFigures: number } | { readonly answers: number; readonly metrics: string };

/** Collects the numbers of all workers for the one that is asked for them; in the first process. */
export class ClusterMetrics {
  private readonly serving = new Map<number, Worker>();
  private readonly joint = new JointMetrics();
  private collecting: Promise<string> | undefined;
  private questions = 0;

  constructor(private readonly count: number) {}

  /** This worker may ask, and is asked itself from its first word on, until it ends. */
  add(worker: Worker): void {
    worker.once('message', () => {
      if (!worker.isDead()) this.serving.set(worker.id, worker);
    });
    worker.once('exit', () => this.serving.delete(worker.id));
    worker.on('message', (message: FromWorker) => {
      if ('wantsMetrics' in message) void this.answer(worker, message.wantsMetrics);
    });
  }

  /** Of any number that ask at once one makes all workers tell, and the others share the answer. */
  private async answer(worker: Worker, question: number): Promise<void> {
    this.collecting ??= this.collect().finally(() => {
      this.collecting = undefined;
    });
    // One that gets no answer says so itself.
    const metrics = await this.collecting.catch(() => undefined);
    if (metrics !== undefined) tell(worker, { answers: question, metrics });
  }

  private async collect(): Promise<string> {
    this.questions += 1;
    const question = this.questions;
    const told = new Map<number, MetricSnapshots>();
    const asked = [...this.serving.values()]
      .filter((worker) => worker.isConnected())
      .map(async (worker) => {
        const figures = await figuresFrom(worker, question);
        if (figures !== undefined) told.set(worker.id, figures);
      });
    await Promise.all(asked);
    return this.joint.text(told, new Set(this.serving.keys()), this.count - told.size);
  }
}

/** Undefined when the worker ends or takes too long. */
async function figuresFrom(worker: Worker, question: number): Promise<MetricSnapshots | undefined> {
  return new Promise((resolve) => {
    const settle = (figures?: MetricSnapshots): void => {
      clearTimeout(patience);
      worker.off('message', hear);
      worker.off('exit', leave);
      resolve(figures);
    };
    const hear = (message: FromWorker): void => {
      if ('toldFigures' in message && message.toldFigures === question) settle(message.figures);
    };
    const leave = (): void => settle();
    const patience = setTimeout(leave, TELL_MS_MAX);
    worker.on('message', hear);
    worker.once('exit', leave);
    tell(worker, { wantsFigures: question });
  });
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
