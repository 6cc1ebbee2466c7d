import type { ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock } from '../values/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import type { RequestState } from '../http/service-request';
import { RateLimiter } from './rate-limiter';

/** The limits per credential. */
export type RateLimited = 'events' | 'runtime' | 'reads';

/**
 * Inflated bytes of a body that cost as much as one event or request. Usual events are smaller. Reading, parsing and refusing
 * 16 KiB costs about as much as storing an event.
 */
const BYTES_PER_UNIT = 16 * 1024;
const WINDOW_SECONDS = 1;
/** Bytes of an answer per unit of reading: a page of usual rows is one unit, a page of the largest ones sixteen. */
const READ_UNIT_BYTES = 64 * 1024;

/** The limits per credential that the operator has set (contract section 2); none unless set. */
@Injectable()
export class RateLimits {
  private readonly limiters: Readonly<Record<RateLimited, RateLimiter | undefined>>;

  constructor(clock: Clock, @Inject(SETTINGS_TOKEN) settings: Settings) {
    const limiter = (name: RateLimited, subject: string, quota: number | undefined): RateLimiter | undefined =>
      quota === undefined ? undefined : new RateLimiter(clock, { name, subject, quota, windowSeconds: WINDOW_SECONDS });
    this.limiters = {
      events: limiter('events', 'events and mutations of one credential', settings.rateLimitEventsPerSecond),
      runtime: limiter('runtime', 'requests of one participant', settings.rateLimitRuntimePerSecond),
      reads: limiter('reads', 'reads of one credential', settings.rateLimitReadsPerSecond),
    };
  }

  /**
   * Spends up to `units` for background work, which is paced instead of refused: as many as are available now.
   * `retryAfterMs`: until one is available again.
   */
  take(what: RateLimited, key: string, units: number): { readonly taken: number; readonly retryAfterMs: number } {
    const limiter = this.limiters[what];
    if (limiter === undefined) return { taken: units, retryAfterMs: 0 };
    const taken = Math.min(units, limiter.stateOf(key).remaining);
    if (taken > 0) limiter.spend(key, taken);
    return { taken, retryAfterMs: limiter.stateOf(key).retryAfterMs };
  }

  /**
   * Admits a request and spends one unit. Further costs are spent by `chargeUnits` and `chargeBytes`, and by reads while their
   * answer is sent. Throws `rate_limited`.
   */
  admit(what: RateLimited, key: string, request: Request & RequestState, response: Response): void {
    const limiter = this.limiters[what];
    if (limiter === undefined) return;
    limiter.check(key);
    const spend = (units: number): void => {
      const headers = limiter.spend(key, units);
      if (response.headersSent) return;
      for (const [name, value] of Object.entries(headers)) response.set(name, beside(response.get(name), what, value));
    };
    spend(1);
    request.rateLimitMeters = [...(request.rateLimitMeters ?? []), { spent: 1, spend }];
    if (what === 'reads') chargeAnswer(response, spend);
  }
}

/** Charges a request up to `units` in total by each of its limits: it pays for its events or its bytes, whichever cost more. */
export function chargeUnits({ rateLimitMeters = [] }: RequestState, units: number): void {
  for (const meter of rateLimitMeters) {
    if (units <= meter.spent) continue;
    meter.spend(units - meter.spent);
    meter.spent = units;
  }
}

/** Charges a request for the bytes of its body, also when it is refused afterwards. */
export function chargeBytes(request: RequestState, bytes: number): void {
  chargeUnits(request, Math.ceil(bytes / BYTES_PER_UNIT));
}

/** Spends a unit for each started 64 KiB of an answer. The first unit is spent already. */
function chargeAnswer(response: Response, spend: (units: number) => void): void {
  let bytes = 0;
  let charged = 1;
  countAnswerBytes(response, (more) => {
    bytes += more;
    const due = Math.ceil(bytes / READ_UNIT_BYTES) - charged;
    if (due <= 0) return;
    charged += due;
    spend(due);
  });
}

/** The header value with the item of this limit and those of other limits: two limits apply to a dry run. */
function beside(field: string | undefined, what: RateLimited, item: string): string {
  if (field === undefined) return item;
  const others = field.split(', ').filter((other) => !other.startsWith(`"${what}"`));
  return [...others, item].join(', ');
}

type Send = (...args: unknown[]) => unknown;

/** Calls `count` with the bytes of each written part of a body, before the part (and perhaps the head) is sent. */
function countAnswerBytes(response: ServerResponse, count: (bytes: number) => void): void {
  const counting = (send: Send): Send => {
    return (...args) => {
      const bytes = bytesOf(args[0], args[1]);
      if (bytes > 0) count(bytes);
      return send(...args);
    };
  };
  response.write = counting(response.write.bind(response) as Send) as ServerResponse['write'];
  response.end = counting(response.end.bind(response) as Send) as ServerResponse['end'];
}

function bytesOf(chunk: unknown, encoding: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength;
  if (typeof chunk !== 'string') return 0;
  return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}
