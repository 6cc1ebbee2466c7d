import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { ConcurrencyLimiter } from '../async/concurrency-limiter';
import { Clock } from '../values/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { isRefusal } from '../invalidation/negative-cache';
import { DomainError } from '../errors/domain-error';
import { RateLimiter } from '../rate-limit/rate-limiter';

/** Beyond the limit, an address has so many look-ups under way: it cannot take the database's time from the others. */
const RUNNING_MAX = 2;
/** Beyond the limit, so many more wait for a look-up, about a tenth of a second. */
const WAITING_MAX = 250;
/** Soon: a look-up takes milliseconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Counts credentials that are refused, per network address: beyond `AUTH_FAILURES_PER_MINUTE` they are answered 429, which
 * tells a guesser nothing about the guess. Good credentials from the same address are not concerned (contract section 2).
 */
@Injectable()
export class FailedAuthentications {
  private readonly limiter: RateLimiter;
  private readonly lookUps: ConcurrencyLimiter;

  constructor(clock: Clock, @Inject(SETTINGS_TOKEN) { authFailuresPerMinute }: Settings) {
    this.limiter = new RateLimiter(clock, {
      name: 'auth-failures',
      subject: 'refused credentials from one address',
      quota: authFailuresPerMinute,
      windowSeconds: 60,
    });
    this.lookUps = new ConcurrencyLimiter({
      // Each one under way may turn out to be a failure.
      runningMax: (network) => Math.max(RUNNING_MAX, this.limiter.allowanceOf(network).remaining),
      waitingMax: WAITING_MAX,
      refusal: tooManyWait,
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

  /**
   * Verifies a credential that is not remembered. Whether it is good cannot be known before, so an address beyond its limit
   * is let in too, but only with a few at a time. Throws `unavailable` when too many wait.
   */
  lookUp<Caller>(request: Request, verify: () => Promise<Caller>): Promise<Caller> {
    return this.lookUps.run(networkOf(request.ip ?? ''), verify);
  }

  private count(request: Request, error: unknown): never {
    // A key source that is away is no failure of the client.
    if (isRefusal(error)) {
      const network = networkOf(request.ip ?? '');
      this.limiter.check(network);
      this.limiter.spend(network, 1);
    }
    throw error;
  }
}

function tooManyWait(): DomainError {
  const message =
    'Too many unknown credentials from this address wait to be checked. Send the same again after the time in Retry-After.';
  return new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** A household or a server has a /64 of IPv6; counting single addresses would let it start anew 2^64 times. */
const IPV6_PREFIX_BITS = 64;

/** What stands for a client when its failures are counted: its IPv4 address, or its IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${parsed.toNormalizedString().replace(/%.*/, '')}/${IPV6_PREFIX_BITS}`,
  ).toString();
}
