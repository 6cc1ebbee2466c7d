import { setTimeout as wait } from 'node:timers/promises';
import { CampaignDataError, type CallSignals } from '../../../clients/typescript/src/client';
import { fieldsOf } from '../foreign-data';
import type { RunningService } from '../running-service';
import { bodyOf } from './batches';
import { refusedLine, type EventRefusal, type Item } from './event-line';
import { EVENT_BATCH_PATHS, type Family } from './family';
import type { LineOutcome } from './ledger';

export interface SendBatchOptions extends CallSignals {
  readonly family: Family;
  readonly dryRun: boolean;
  /** Whether to send what failed again, `waitMs` from now; `failingMs` have passed since it failed for the first time. */
  readonly mayRetry: (reason: string, failingMs: number, waitMs: number) => boolean;
}

/** What the service answered for one event. */
type LineResult = { readonly status: 'accepted' | 'duplicate' } | ({ readonly status: 'error' } & EventRefusal);

interface Answered {
  readonly item: Item;
  readonly result: LineResult;
}

/** These say that the body as a whole cannot be taken; a part of it may be. */
const DIVISIBLE_STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 8_000;

/**
 * Sends the items until each has its result. What the service cannot take as a whole is sent in halves; events that it could
 * not store at that moment are sent again. Throws `ClientFailure` when the requests are refused, or fail for too long.
 */
export async function sendBatch(
  service: RunningService,
  items: readonly Item[],
  options: SendBatchOptions,
): Promise<LineOutcome> {
  const answered = items.length === 0 ? [] : await sendAll(service, items, options);
  const count = (status: string): number => answered.filter(({ result }) => result.status === status).length;
  return {
    accepted: count('accepted'),
    duplicate: count('duplicate'),
    refused: answered.flatMap(({ item, result }) => (result.status === 'error' ? [refusedLine(item, result)] : [])),
  };
}

async function sendAll(service: RunningService, items: readonly Item[], options: SendBatchOptions) {
  const results = new Map<Item, LineResult>();
  let pending = items;
  let failingSince: number | undefined;
  for (let round = 1; pending.length > 0; round++) {
    const answered = await sendOnce(service, pending, options);
    const unavailable = answered.filter(({ result }) => isUnavailable(result));
    for (const { item, result } of answered) if (!isUnavailable(result)) results.set(item, result);
    if (unavailable.length > 0) {
      // Some were taken: that is no continuous failure.
      failingSince = unavailable.length < pending.length ? undefined : failingSince;
      failingSince ??= performance.now();
      await pause(service, unavailable, { round, failingMs: performance.now() - failingSince }, options);
    }
    pending = unavailable.map(({ item }) => item);
  }
  return items.flatMap((item) => pair(item, results.get(item)));
}

/** The results of one request; of what cannot be taken as a whole, those of its halves. */
async function sendOnce(
  service: RunningService,
  items: readonly Item[],
  options: SendBatchOptions,
): Promise<Answered[]> {
  const { family, dryRun, signal, retrySignal } = options;
  const path = `${EVENT_BATCH_PATHS[family]}${dryRun ? '?dry_run=true' : ''}`;
  try {
    const body = await service.client.post(path, bodyOf(items), { signal, retrySignal });
    const results = readResults(body, items.length);
    if (results === undefined) throw service.foreignAnswer(200);
    return items.flatMap((item, index) => pair(item, results[index]));
  } catch (error) {
    if (error instanceof CampaignDataError) return divide(service, items, error, options);
    throw error;
  }
}

async function divide(
  service: RunningService,
  items: readonly Item[],
  error: CampaignDataError,
  options: SendBatchOptions,
): Promise<Answered[]> {
  const { status, errorCode, message, details } = error;
  const isOfService = errorCode !== 'unexpected_answer';
  // A proxy that knows a smaller limit than the service answers 413 in words of its own.
  const isDivisible = status === 413 || (DIVISIBLE_STATUSES.has(status) && isOfService);
  if (!isDivisible) throw service.failure(error);
  const [only] = items;
  if (items.length === 1 && only !== undefined) {
    const refusal = isOfService ? { error_code: errorCode, message, details } : TOO_LARGE_FOR_A_PROXY;
    return [{ item: only, result: { status: 'error', ...refusal } }];
  }
  const middle = Math.ceil(items.length / 2);
  const first = await sendOnce(service, items.slice(0, middle), options);
  return [...first, ...(await sendOnce(service, items.slice(middle), options))];
}

const TOO_LARGE_FOR_A_PROXY: EventRefusal = {
  error_code: 'payload_too_large',
  message: 'The event is larger than the service, or a proxy before it, takes.',
  details: [],
};

async function pause(
  service: RunningService,
  unavailable: readonly Answered[],
  { round, failingMs }: { readonly round: number; readonly failingMs: number },
  { mayRetry, signal, retrySignal }: SendBatchOptions,
): Promise<void> {
  // Half of it by chance, so that clients that failed together do not come back together.
  const waitMs = Math.min(PAUSE_MS_MIN * 2 ** (round - 1), PAUSE_MS_MAX) * (0.5 + Math.random() / 2);
  if (!mayRetry('answered "unavailable" for single events', failingMs, waitMs)) {
    const [message = ''] = unavailable.flatMap(({ result }) => (result.status === 'error' ? [result.message] : []));
    throw service.failure(new CampaignDataError({ message, status: 200, errorCode: 'unavailable' }));
  }
  const ends = retrySignal ?? signal;
  await wait(waitMs, undefined, ends === undefined ? {} : { signal: ends });
}

/** The results of a batch, in its order; undefined when the body is not the answer to `count` events. */
function readResults(body: unknown, count: number): readonly LineResult[] | undefined {
  const { results } = fieldsOf(body);
  if (!Array.isArray(results) || results.length !== count) return undefined;
  const read = results.map(readResult).filter((result) => result !== undefined);
  return read.length === count ? read : undefined;
}

function readResult(result: unknown): LineResult | undefined {
  const { status, event_id, original_event_id, error_code, message, details } = fieldsOf(result);
  if (status === 'accepted' && typeof event_id === 'string') return { status };
  if (status === 'duplicate' && typeof original_event_id === 'string') return { status };
  if (status !== 'error' || typeof error_code !== 'string' || typeof message !== 'string') return undefined;
  return { status, error_code, message, details: Array.isArray(details) ? details : [] };
}

/** Whether the event itself is right, and could only not be stored at that moment. */
function isUnavailable(result: LineResult): boolean {
  return result.status === 'error' && result.error_code === 'unavailable';
}

function pair(item: Item, result: LineResult | undefined): Answered[] {
  return result === undefined ? [] : [{ item, result }];
}
