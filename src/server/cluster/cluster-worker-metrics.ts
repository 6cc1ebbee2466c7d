import type { FromWorker, ToWorker } from './cluster-metrics';
import { DomainError } from '../../platform/errors/domain-error';
import type { MetricsSource } from '../../platform/observability/metrics-source';
import { settledWithin } from '../../platform/observability/settled-within';

/** The first process has a moment more than it gives the workers, and whoever asked has the answer in two seconds. */
const ANSWER_MS_MAX = 1_900;

/** Makes `GET /metrics` of this worker tell of all workers, and tells the first process the numbers of this one. */
export function shareMetrics(source: MetricsSource): void {
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
