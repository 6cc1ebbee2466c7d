import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { ConcurrencyLimiter } from '../async/concurrency-limiter';
import { Clock } from '../values/clock';
import { SETTINGS_TOKEN, type Settings } from '../config/settings';
import { isRefusal } from '../invalidation/negative-cache';
import { DomainError } from '../errors/domain-error';
import { RateLimiter } from '../rate-limit/rate-limiter';

/** Concurrent look-ups of an address beyond its limit. It cannot take the database's time from others. */
const RUNNING_MAX = 2;
/** Waiting look-ups of an address beyond its limit; they wait about a tenth of a second. */
const WAITING_MAX = 250;
/** A look-up takes milliseconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Counts refused credentials per network address. Beyond `AUTH_FAILURES_PER_MINUTE` they get 429, which reveals nothing about
 * the credential. Valid credentials from the same address are not affected (contract section 2).
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
      // Each running look-up may fail.
      runningMax: (network) => Math.max(RUNNING_MAX, this.limiter.stateOf(network).remaining),
      waitingMax: WAITING_MAX,
      refusal: tooManyWait,
    });
  }

  /** Runs a verification and counts a refusal. Throws `rate_limited` beyond the limit. */
  counted<Caller>(request: Request, verify: () => Caller | Promise<Caller>): Caller | Promise<Caller> {
    try {
      const verified = verify();
      return verified instanceof Promise ? verified.catch((error: unknown) => this.count(request, error)) : verified;
    } catch (error) {
      return this.count(request, error);
    }
  }

  /**
   * Verifies a credential that is not cached. It may be valid, so an address beyond its limit is admitted too, but only with
   * a few look-ups at a time. Throws `unavailable` when too many wait.
   */
  lookUp<Caller>(request: Request, verify: () => Promise<Caller>): Promise<Caller> {
    return this.lookUps.run(networkOf(request.ip ?? ''), verify);
  }

  private count(request: Request, error: unknown): never {
    // An unavailable key source is not a failure of the client.
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
