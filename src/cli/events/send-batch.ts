import { setTimeout as wait } from 'node:timers/promises';
import {
  EVENT_BATCH_PATHS,
  isUnavailable,
  readAnswers,
  readError,
  type Answer,
  type Family,
} from '../../client/batch-answers';
import { retryDelayMs } from '../../client/retry-delay';
import type { RequestOptions, Reply, ServiceClient } from '../../client/service-client';
import { bodyOf } from './batches';
import { refusedLine, type Item } from './event-line';
import type { LineOutcome } from './ledger';

export interface SendBatchOptions extends RequestOptions {
  readonly family: Family;
  readonly dryRun: boolean;
  /** A request has to be made again. */
  readonly onRepeat: () => void;
}

interface Answered {
  readonly item: Item;
  readonly answer: Answer;
}

/** These say that the body as a whole cannot be taken; a part of it may be. */
const DIVISIBLE_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Sends the items until each of them is settled: what the service cannot take as a whole in halves, what it cannot take at
 * the moment later. Throws `ClientFailure` when it takes no requests of this kind or stays away for too long.
 */
export async function sendBatch(
  client: ServiceClient,
  items: readonly Item[],
  options: SendBatchOptions,
): Promise<LineOutcome> {
  const answered = items.length === 0 ? [] : await settle(client, items, options);
  const count = (status: string): number => answered.filter(({ answer }) => answer.status === status).length;
  return {
    accepted: count('accepted'),
    duplicate: count('duplicate'),
    refused: answered.flatMap(({ item, answer }) => (answer.status === 'error' ? [refusedLine(item, answer)] : [])),
  };
}

async function settle(client: ServiceClient, items: readonly Item[], options: SendBatchOptions): Promise<Answered[]> {
  const settled = new Map<Item, Answer>();
  let pending = items;
  let failingSince: number | undefined;
  for (let round = 1; pending.length > 0; round++) {
    const answered = await sendOnce(client, pending, options);
    const waiting = answered.filter(({ answer }) => isUnavailable(answer));
    for (const { item, answer } of answered) if (!isUnavailable(answer)) settled.set(item, answer);
    if (waiting.length > 0) {
      // Some were taken: that is no continuous failure.
      failingSince = waiting.length < pending.length ? undefined : failingSince;
      failingSince ??= performance.now();
      await pause(client, waiting, round, performance.now() - failingSince, options);
    }
    pending = waiting.map(({ item }) => item);
  }
  return items.flatMap((item) => pair(item, settled.get(item)));
}

/** One request and its answers; of what cannot be taken as a whole, those of its halves. */
async function sendOnce(client: ServiceClient, items: readonly Item[], options: SendBatchOptions): Promise<Answered[]> {
  const { family, dryRun, onRepeat } = options;
  const path = `${EVENT_BATCH_PATHS[family]}${dryRun ? '?dry_run=true' : ''}`;
  const reply = await client.post(path, bodyOf(items), {
    ...options,
    retries: (failing) => {
      const again = options.retries(failing);
      if (again) onRepeat();
      return again;
    },
  });
  if (reply.status === 200) {
    const answers = readAnswers(reply.body, items.length);
    if (answers === undefined) throw client.refusal(reply);
    return items.flatMap((item, index) => pair(item, answers[index]));
  }
  return divide(client, items, reply, options);
}

async function divide(
  client: ServiceClient,
  items: readonly Item[],
  reply: Reply,
  options: SendBatchOptions,
): Promise<Answered[]> {
  const error = readError(reply.body);
  // A proxy that knows a smaller limit than the service answers 413 in words of its own.
  const isDivisible = reply.status === 413 || (DIVISIBLE_STATUSES.has(reply.status) && error !== undefined);
  if (!isDivisible) throw client.refusal(reply);
  const [only] = items;
  if (items.length === 1 && only !== undefined) {
    const message = 'The event is larger than the service, or a proxy before it, takes.';
    const answer = error ?? { status: 'error', errorCode: 'payload_too_large', message, details: [] };
    return [{ item: only, answer }];
  }
  const middle = Math.ceil(items.length / 2);
  const first = await sendOnce(client, items.slice(0, middle), options);
  return [...first, ...(await sendOnce(client, items.slice(middle), options))];
}

async function pause(
  client: ServiceClient,
  waiting: readonly Answered[],
  attempts: number,
  failingMs: number,
  { retries, onRepeat, signal, waitSignal }: SendBatchOptions,
): Promise<void> {
  const waitMs = retryDelayMs(attempts, undefined, Math.random());
  const reason = 'answered "unavailable" for single events';
  if (!retries({ attempts, failingMs, askedMs: 0, waitMs, reason })) {
    const [answer] = waiting.flatMap((each) => (each.answer.status === 'error' ? [each.answer] : []));
    throw client.refusal({ status: 200, body: { error_code: answer?.errorCode, message: answer?.message } });
  }
  onRepeat();
  const ends = waitSignal ?? signal;
  await wait(waitMs, undefined, ends === undefined ? {} : { signal: ends });
}

function pair(item: Item, answer: Answer | undefined): Answered[] {
  return answer === undefined ? [] : [{ item, answer }];
}
