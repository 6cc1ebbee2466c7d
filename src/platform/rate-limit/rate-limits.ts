import type { ServerResponse } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Clock } from '../values/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { RateLimiter } from './rate-limiter';
import { meterRequest } from './request-meter';

/** What can be limited per credential. */
export type RateLimited = 'events' | 'runtime' | 'reads';

const WINDOW_SECONDS = 1;
/** What one unit of reading carries: a page of usual rows is one, one of the largest sixteen. */
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
   * Spends up to `wanted` units for work that nobody waits for, and that is paced instead of refused: as many as there are now.
   * `retryAfterMs`: until there is one again.
   */
  take(what: RateLimited, spender: string, wanted: number): { readonly taken: number; readonly retryAfterMs: number } {
    const limiter = this.limiters[what];
    if (limiter === undefined) return { taken: wanted, retryAfterMs: 0 };
    const taken = Math.min(wanted, limiter.allowanceOf(spender).remaining);
    if (taken > 0) limiter.spend(spender, taken);
    return { taken, retryAfterMs: limiter.allowanceOf(spender).retryAfterMs };
  }

  /**
   * Lets a request in that the spender may make, for one unit; what it turns out to cost beyond that is spent by way of
   * `chargeUnits` and `chargeBytes`, and reads spend further units as their answer goes out. Throws `rate_limited`.
   */
  admit(what: RateLimited, spender: string, request: Request, response: Response): void {
    const limiter = this.limiters[what];
    if (limiter === undefined) return;
    limiter.check(spender);
    const spend = (units: number): void => {
      const headers = limiter.spend(spender, units);
      if (response.headersSent) return;
      for (const [name, value] of Object.entries(headers)) response.set(name, beside(response.get(name), what, value));
    };
    spend(1);
    meterRequest(request, spend);
    if (what === 'reads') chargeAnswer(response, spend);
  }
}

/** Spends a unit for each started 64 KiB of an answer; the first is spent already. */
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

/** The field with this limit's item, beside those of other limits: a dry run is held to two. */
function beside(field: string | undefined, what: RateLimited, item: string): string {
  if (field === undefined) return item;
  const others = field.split(', ').filter((other) => !other.startsWith(`"${what}"`));
  return [...others, item].join(', ');
}

type Send = (...args: unknown[]) => unknown;

/** Tells `count` how many bytes of an answer's body are about to go out; the head may still be unsent by then. */
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
