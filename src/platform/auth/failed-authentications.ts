import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { DomainError } from '../errors/domain-error';
import { ERROR_CODES } from '../errors/error-codes';
import { networkOf } from '../rate-limit/network-of';
import { RateLimiter } from '../rate-limit/rate-limiter';

/**
 * Counts credentials that are refused, per network address: beyond `AUTH_FAILURES_PER_MINUTE` they are answered 429, which
 * tells a guesser nothing about the guess. Good credentials from the same address are not concerned (contract section 2).
 */
@Injectable()
export class FailedAuthentications {
  private readonly limiter: RateLimiter;

  constructor(clock: Clock, @Inject(SETTINGS_TOKEN) { authFailuresPerMinute }: Settings) {
    this.limiter = new RateLimiter(clock, {
      name: 'auth-failures',
      subject: 'refused credentials from one address',
      quota: authFailuresPerMinute,
      windowSeconds: 60,
    });
  }

  /** Passes on what a verification says, counting a refusal. Throws `rate_limited` beyond the limit. */
  counted<Caller>(request: Request, verify: () => Caller | Promise<Caller>): Caller | Promise<Caller> {
    try {
      const verified = verify();
      return verified instanceof Promise ? verified.catch((error: unknown) => this.count(request, error)) : verified;
    } catch (error) {
      return this.count(request, error);
    }
  }

  private count(request: Request, error: unknown): never {
    // A key source that is away is no failure of the client.
    const isRefusal = error instanceof DomainError && ERROR_CODES[error.code].status === 401;
    if (isRefusal) {
      const network = networkOf(request.ip ?? '');
      this.limiter.check(network);
      this.limiter.spend(network, 1);
    }
    throw error;
  }
}
