import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Clock } from '../clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { RateLimiter } from './rate-limiter';

/** What can be limited per credential. */
export type RateLimited = 'events' | 'runtime';

const WINDOW_SECONDS = 1;

/** The limits per credential that the operator has set (contract section 2); none unless set. */
@Injectable()
export class RateLimits {
  private readonly limiters: Readonly<Record<RateLimited, RateLimiter | undefined>>;

  constructor(clock: Clock, @Inject(SETTINGS_TOKEN) settings: Settings) {
    const limiter = (name: RateLimited, subject: string, quota: number | undefined): RateLimiter | undefined =>
      quota === undefined ? undefined : new RateLimiter(clock, { name, subject, quota, windowSeconds: WINDOW_SECONDS });
    this.limiters = {
      events: limiter('events', 'events of one credential', settings.rateLimitEventsPerSecond),
      runtime: limiter('runtime', 'requests of one participant', settings.rateLimitRuntimePerSecond),
    };
  }

  /** Lets a request in that the spender may make, for one unit. Throws `rate_limited`. */
  admit(what: RateLimited, spender: string, response: Response): void {
    this.limiters[what]?.check(spender);
    this.charge(what, spender, response, 1);
  }

  /** Spends the further units of a request that is in. */
  charge(what: RateLimited, spender: string, response: Response, cost: number): void {
    const limiter = this.limiters[what];
    if (limiter !== undefined) response.set(limiter.spend(spender, cost));
  }
}
