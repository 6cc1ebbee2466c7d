import { setTimeout as wait } from 'node:timers/promises';
import type { Purchase } from './cdnow';
import { EVENT_BATCH_PATHS, isUnavailable, readAnswers, type Answer } from '../client/batch-answers';
import { purchaseEvent } from './cdp-wire';
import { retryDelayMs } from '../client/retry-delay';
import type { RequestOptions, ServiceClient } from '../client/service-client';

export interface Answered {
  readonly purchase: Purchase;
  readonly answer: Answer;
}

/** One pass over all purchases. */
export interface Run {
  /** In the order of the purchases. */
  readonly answered: readonly Answered[];
  readonly seconds: number;
  /** Requests that were made again because the one before got no answer, or was told to come later. */
  readonly repeatedRequests: number;
}

export interface DemoSendOptions {
  readonly batch: number;
  readonly concurrency: number;
  /** Gets the number of events that are answered. */
  readonly onProgress: (done: number) => void;
}

type BatchRun = Pick<Run, 'answered' | 'repeatedRequests'>;

/** A tour that stands still for longer is none. */
const RETRY_AFTER_MS_MAX = 60_000;
/** With their delays (about 12 s at least) these outlast a restart of the service. */
const ATTEMPTS_MAX = 8;

/** Sends every purchase; throws `ClientFailure` when the service does not take the requests themselves. */
export async function sendEvents(
  client: ServiceClient,
  purchases: readonly Purchase[],
  { batch, concurrency, onProgress }: DemoSendOptions,
): Promise<Run> {
  const batches = split(purchases, batch);
  const runs: BatchRun[] = [];
  const stop = new AbortController();
  // The workers share one iterator: each batch goes to whoever is free first.
  const queue = batches.entries();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const [index, part] of queue) {
      runs[index] = await sendBatch(client, part, stop.signal);
      done += part.length;
      onProgress(done);
    }
  };
  const began = performance.now();
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
  } finally {
    // When one fails, the others must not go on in the background.
    stop.abort();
  }
  return {
    answered: runs.flatMap((run) => run.answered),
    seconds: (performance.now() - began) / 1_000,
    repeatedRequests: runs.reduce((sum, run) => sum + run.repeatedRequests, 0),
  };
}

/** So many attempts, none of which the service wants to have put off for long. */
export function atMost(attemptsMax: number): RequestOptions['retries'] {
  return ({ attempts, askedMs }) => attempts < attemptsMax && askedMs <= RETRY_AFTER_MS_MAX;
}

/** Single events that the service could not take at that moment are sent again, like a whole request. */
async function sendBatch(client: ServiceClient, batch: readonly Purchase[], signal: AbortSignal): Promise<BatchRun> {
  const answers = new Map<Purchase, Answer>();
  let pending = batch;
  let requests = 0;
  for (let round = 1; ; round++) {
    const reply = await client.post(EVENT_BATCH_PATHS.cdp, JSON.stringify({ items: pending.map(purchaseEvent) }), {
      retries: atMost(ATTEMPTS_MAX),
      signal,
    });
    requests += reply.attempts;
    const read = reply.status === 200 ? readAnswers(reply.body, pending.length) : undefined;
    if (read === undefined) throw client.refusal(reply);
    const answered = pending.flatMap((purchase, index) => pair(purchase, read[index]));
    answered.forEach(({ purchase, answer }) => answers.set(purchase, answer));
    pending = answered.filter(({ answer }) => isUnavailable(answer)).map(({ purchase }) => purchase);
    if (pending.length === 0 || round === ATTEMPTS_MAX) break;
    await wait(retryDelayMs(round, undefined, Math.random()), undefined, { signal });
  }
  return {
    answered: batch.flatMap((purchase) => pair(purchase, answers.get(purchase))),
    repeatedRequests: requests - 1,
  };
}

function pair(purchase: Purchase, answer: Answer | undefined): Answered[] {
  return answer === undefined ? [] : [{ purchase, answer }];
}

function split<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
