import type { EventResult, RetryOptions } from '../../clients/typescript/src/client';
import { isForeignAnswer, RunningService } from '../cli/running-service';
import type { Purchase } from './cdnow';
import { purchaseEvent } from './cdp-wire';

export interface Answered {
  readonly purchase: Purchase;
  readonly result: EventResult;
}

/** One pass over all purchases. */
export interface Run {
  /** In the order of the purchases. */
  readonly answered: readonly Answered[];
  readonly seconds: number;
  /** Requests that were sent again, because the one before got no answer or a temporary refusal. */
  readonly repeatedRequests: number;
}

/** The address of a service and a key for it. */
export interface DemoTarget {
  readonly url: string;
  readonly key: string;
}

export interface DemoSendOptions {
  readonly batch: number;
  readonly concurrency: number;
  /** Gets the number of events that are answered. */
  readonly onProgress: (done: number) => void;
}

const ADVICE = {
  credential: 'The demo needs an admin key (--key or CDS_API_KEY).',
  unreachable: 'Nothing is lost: run the demo again when it is back.',
};
/** Outlasts a restart of the service. A tour that stands still for longer is none. */
const RETRY_MS_MAX = 60_000;

/** A service for the demo; `shouldRetry` is asked before each repetition. */
export function demoService({ url, key }: DemoTarget, retry: RetryOptions): RunningService {
  const { shouldRetry = () => true } = retry;
  return new RunningService(url, key, ADVICE, {
    ...retry,
    shouldRetry: (failed) => !isForeignAnswer(failed.error) && shouldRetry(failed),
  });
}

/** Sends every purchase; throws `ClientFailure` when the service refuses the requests, or stays away. */
export async function sendEvents(
  target: DemoTarget,
  purchases: readonly Purchase[],
  { batch, concurrency, onProgress }: DemoSendOptions,
): Promise<Run> {
  const answered: Answered[] = [];
  let repeatedRequests = 0;
  const service = demoService(target, {
    totalMsMax: RETRY_MS_MAX,
    shouldRetry: () => {
      repeatedRequests += 1;
      return true;
    },
  });
  const sendAll = async (): Promise<void> => {
    const events = purchases.map(purchaseEvent);
    for await (const { result } of service.client.events.stream(events, { itemsMax: batch, concurrency })) {
      const purchase = purchases[answered.length];
      if (purchase !== undefined) answered.push({ purchase, result });
      onProgress(answered.length);
    }
  };
  const began = performance.now();
  await service.withFailures(sendAll());
  return { answered, seconds: (performance.now() - began) / 1_000, repeatedRequests };
}
