import type { Settings } from '../../platform/config/settings';
import { messageOf } from '../../platform/errors/error-summary';
import { MetricsSource } from '../../platform/observability/metrics-source';
import { serve, type Serving } from '../service';
import type { FromWorker, ToWorker } from './cluster-metrics';
import { DomainError } from '../../platform/errors/domain-error';
import { settledWithin } from '../../platform/observability/settled-within';

/** What a worker tells the process that has started it. */
export type WorkerReport = { readonly url: string } | { readonly failure: string };

/**
 * One of several processes that serve on one port; see `cluster.ts`, which sends the settings. When that process is gone,
 * Node ends this one.
 */
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

/** A Ctrl-C reaches this process as well as the other, which then asks for the same. */
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

function report(words: WorkerReport, sent?: () => void): void {
  process.send?.(words, sent);
}

/** The first process has a moment more than it gives the workers, and whoever asked has the answer in two seconds. */
const ANSWER_MS_MAX = 1_900;

/** Makes `GET /metrics` of this worker tell of all workers, and tells the first process the numbers of this one. */
function shareMetrics(source: MetricsSource): void {
  const asking = new Map<number, (metrics: string) => void>();
  let questions = 0;
  process.on('message', (message: ToWorker) => {
    if ('wantsFigures' in message) void tellFigures(source, message.wantsFigures);
    else asking.get(message.answers)?.(message.metrics);
  });
  source.replaceBy(async () => {
    questions += 1;
    const question = questions;
    const answered = new Promise<string>((resolve) => asking.set(question, resolve));
    send({ wantsMetrics: question });
    const metrics = await settledWithin(ANSWER_MS_MAX, () => answered);
    asking.delete(question);
    if (metrics === undefined) {
      // The numbers of one would look as if the counters had begun anew.
      const words = 'The numbers of all processes could not be collected in time. Ask again.';
      throw new DomainError('unavailable', words);
    }
    return metrics;
  });
}

async function tellFigures(source: MetricsSource, question: number): Promise<void> {
  send({ toldFigures: question, figures: await source.figures() });
}

function send(message: FromWorker): void {
  // Without the other process there is nobody to be told, and Node ends this one.
  process.send?.(message, undefined, undefined, () => undefined);
}
