import type { Settings } from '../../platform/config/settings';
import { messageOf } from '../../platform/errors/error-summary';
import { MetricsSource } from '../../platform/observability/metrics-source';
import { serve, type Serving } from '../service';
import type { FromWorker, ToWorker } from './cluster-metrics';
import { DomainError } from '../../platform/errors/domain-error';
import { settledWithin } from '../../platform/observability/settled-within';

/** What a worker reports to the primary process after its start. */
export type WorkerReport = { readonly url: string } | { readonly failure: string };

/** Longer than the primary process waits for other workers; the client still has its answer within two seconds. */
const ANSWER_MS_MAX = 1_900;

/** A worker process of `cluster.ts`, which sends the settings. Node ends it when the primary process ends. */
process.once('message', (settings: Settings & { readonly databaseUrl: string }) => {
  serve(settings, (app) => shareMetrics(app.get(MetricsSource))).then(
    (serving) => {
      stopOnSignal(serving);
      report({ url: serving.url });
    },
    (error: unknown) => {
      report({ failure: messageOf(error) }, () => process.exit(1));
    },
  );
});

/** Ctrl-C reaches this process and the primary, which then sends a second signal. */
function stopOnSignal(serving: Serving): void {
  let stopping: Promise<void> | undefined;
  const stop = (): void => {
    stopping ??= serving.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function report(message: WorkerReport, sent?: () => void): void {
  process.send?.(message, sent);
}

/** Makes `GET /metrics` of this worker cover all workers, and answers the primary's requests for its own metrics. */
function shareMetrics(source: MetricsSource): void {
  const waiting = new Map<number, (metrics: string) => void>();
  let lastRequest = 0;
  process.on('message', (message: ToWorker) => {
    if ('requestSnapshots' in message) void sendSnapshots(source, message.requestSnapshots);
    else waiting.get(message.answerMetrics)?.(message.metrics);
  });
  source.replaceBy(async () => {
    lastRequest += 1;
    const request = lastRequest;
    const answered = new Promise<string>((resolve) => waiting.set(request, resolve));
    send({ requestMetrics: request });
    const metrics = await settledWithin(ANSWER_MS_MAX, () => answered);
    waiting.delete(request);
    if (metrics === undefined) {
      // The metrics of this worker alone would look like a restart of all counters.
      throw new DomainError('unavailable', 'The metrics of all processes could not be collected in time. Try again.');
    }
    return metrics;
  });
}

async function sendSnapshots(source: MetricsSource, request: number): Promise<void> {
  send({ answerSnapshots: request, snapshots: await source.snapshots() });
}

function send(message: FromWorker): void {
  // Fails when the primary has ended; Node then ends this process.
  process.send?.(message, undefined, undefined, () => undefined);
}
