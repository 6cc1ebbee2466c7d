import { isStored, resultsIn } from './answers.js';
import { BATCH_BYTES_MAX, BATCH_ITEMS_MAX, type Batch, batchesOf, bodyOf } from './batches.js';
import { CampaignDataError } from './errors.js';
import { inOrder } from './in-order.js';
import { type CallSignals, type RetryPolicy, withRetries } from './retry.js';
import { type Call, type Connection, send } from './transport.js';
import type { Accepted, CampaignEvent, Duplicate, EventResult, Failed } from './types.js';

export interface SendOptions extends CallSignals {
  /** Answers as the live call would, and writes nothing. */
  readonly dryRun?: boolean;
}

export interface BatchOptions extends SendOptions {
  /** How many requests are under way at once; 4 when absent. */
  readonly concurrency?: number;
  /** Events in one request, at most 1,000, which is meant when absent. */
  readonly itemsMax?: number;
  /** Bytes of one request; 5 MiB when absent. */
  readonly bytesMax?: number;
}

/** An event with its result. */
export interface Sent<Event> {
  readonly event: Event;
  readonly result: EventResult;
}

interface SentBatch<Event> {
  readonly events: readonly Event[];
  /** How many events came before these. */
  readonly start: number;
  readonly results: readonly EventResult[];
}

const CONCURRENCY = 4;
const ONE = { external: '/v1/external-events', cdp: '/v1/cdp/events' };
const MANY = { external: '/v1/external-events:batch', cdp: '/v1/cdp/events/batch' };
type Family = keyof typeof ONE;

/** Sends events, each of which takes effect once, however often it is sent. */
export class Events {
  readonly #connection: Connection;
  readonly #batchRetry: RetryPolicy;

  constructor(connection: Connection, batchRetry: RetryPolicy) {
    this.#connection = connection;
    this.#batchRetry = batchRetry;
  }

  /** Sends one event of either family. Throws CampaignDataError when it is refused, or could not be sent. */
  async send(
    event: CampaignEvent,
    { signal, retrySignal, dryRun = false }: SendOptions = {},
  ): Promise<Accepted | Duplicate> {
    const path = pathOf(ONE, familyOf(event), dryRun);
    const call: Call = { method: 'POST', path, body: JSON.stringify(event), signal, retrySignal };
    return (await send<Accepted | Duplicate>(this.#connection, call, isStored)).body;
  }

  /**
   * Sends any number of events in as few requests as it takes, and answers the result of each, in their order. Throws
   * CampaignDataError when a request as a whole is refused, or could not be sent; its `results` are those of the other requests.
   * Sending all of them again is safe.
   */
  async batch<E extends CampaignEvent>(
    events: Iterable<E> | AsyncIterable<E>,
    options: BatchOptions = {},
  ): Promise<EventResult[]> {
    const results: EventResult[] = [];
    try {
      for await (const sent of this.#sent(events, options)) {
        sent.results.forEach((result, index) => (results[sent.start + index] = result));
      }
    } catch (error) {
      throw error instanceof CampaignDataError ? error.withResults(Array.from(results)) : error;
    }
    return results;
  }

  /**
   * The same for more events than fit in memory: each comes back with its result, in their order. When a request
   * fails for good no other is begun, those under way are waited for and their results are given; then it throws. Sending again
   * what has not come back is safe.
   */
  async *stream<E extends CampaignEvent>(
    events: Iterable<E> | AsyncIterable<E>,
    options: BatchOptions = {},
  ): AsyncGenerator<Sent<E>, void> {
    for await (const sent of this.#sent(events, options)) {
      for (const [index, event] of sent.events.entries()) yield { event, result: sent.results[index] ?? UNANSWERED };
    }
  }

  /** Batches with their results. */
  #sent<E extends CampaignEvent>(
    events: Iterable<E> | AsyncIterable<E>,
    { signal, retrySignal, dryRun = false, ...options }: BatchOptions,
  ): AsyncGenerator<SentBatch<E>, void> {
    const { concurrency = CONCURRENCY, itemsMax = BATCH_ITEMS_MAX, bytesMax = BATCH_BYTES_MAX } = options;
    refuseNaN({ concurrency, itemsMax, bytesMax });
    const stop = new AbortController();
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const batches = batchesOf(events, familyOf, { itemsMax, bytesMax, signal: either });
    const work = async (batch: Batch<E, Family>): Promise<SentBatch<E>> => {
      const results = await this.#resultsOf(batch.texts, pathOf(MANY, batch.family, dryRun), {
        signal: either,
        retrySignal,
      });
      return { events: batch.events, start: batch.start, results };
    };
    return inOrder(batches, work, Math.max(1, concurrency), { signal, giveUp: () => stop.abort() });
  }

  /** Sends a batch, and those of its events again that the service could not store this time. */
  async #resultsOf(
    texts: readonly string[],
    path: string,
    signals: CallSignals & { readonly signal: AbortSignal },
  ): Promise<readonly EventResult[]> {
    const { attempt } = this.#connection;
    const results: EventResult[] = texts.map(() => UNANSWERED);
    const someAreLeft = new CampaignDataError(UNANSWERED_PROBLEM);
    const sendTheRest = async (msMax: number): Promise<void> => {
      const rest = [...results.keys()].filter((index) => isUnavailable(results[index]));
      const body = bodyOf(rest.map((index) => texts[index] ?? ''));
      const call: Call = { method: 'POST', path, body, signal: signals.signal };
      const answered = resultsIn(await attempt<unknown>(call, msMax), rest.length);
      rest.forEach((index, position) => (results[index] = ofEvent(answered[position] ?? UNANSWERED)));
      if (results.some(isUnavailable)) throw someAreLeft;
    };
    try {
      await withRetries(sendTheRest, this.#batchRetry, signals);
    } catch (error) {
      // A single event is too large by itself; the others can still be sent.
      if (isTooLarge(error) && texts.length === 1) return [failure(error)];
      // Results that are known are returned even when the rest of the events could not be sent.
      const isPartlyKnown = results.some((result) => result !== UNANSWERED);
      if (error !== someAreLeft && (signals.signal.aborted || !isPartlyKnown)) throw error;
    }
    return results;
  }
}

const UNANSWERED_PROBLEM = {
  message: 'The service cannot answer now.',
  status: 503,
  errorCode: 'unavailable',
} as const;
const UNANSWERED: Failed = {
  status: 'error',
  error_code: 'unavailable',
  message: UNANSWERED_PROBLEM.message,
  details: [],
};

/** Mostly a variable that is not set. With such a `concurrency` nothing would be sent, and no error would say so. */
function refuseNaN(options: Readonly<Record<string, number>>): void {
  const wrong = Object.keys(options).find((name) => Number.isNaN(Number(options[name])));
  if (wrong !== undefined) throw new TypeError(`${wrong} is not a number.`);
}

/** Without the place in the request, which the caller does not know. */
function ofEvent(result: EventResult): EventResult {
  if (result.status !== 'error') return result;
  const details = result.details.map((fault) => ({ ...fault, path: fault.path.replace(/^items\[\d+\]\.?/, '') }));
  return { ...result, details };
}

function isUnavailable(result: EventResult | undefined): boolean {
  return result?.status === 'error' && result.error_code === 'unavailable';
}

function isTooLarge(error: unknown): error is CampaignDataError {
  return error instanceof CampaignDataError && error.errorCode === 'payload_too_large';
}

function failure({ message, details }: CampaignDataError): Failed {
  return { status: 'error', error_code: 'payload_too_large', message, details };
}

/** By the fields that only one of the two has. */
function familyOf(event: CampaignEvent): Family {
  return 'externalEventId' in event || 'eventType' in event ? 'cdp' : 'external';
}

function pathOf(paths: Readonly<Record<Family, string>>, family: Family, dryRun: boolean): string {
  return dryRun ? `${paths[family]}?dry_run=true` : paths[family];
}
