import type { Settings } from '../../platform/config/settings';
import { shareMetrics } from './cluster-worker-metrics';
import { messageOf } from '../../platform/errors/message-of';
import { MetricsSource } from '../../platform/observability/metrics-source';
import { serve, type Serving } from '../service';

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
