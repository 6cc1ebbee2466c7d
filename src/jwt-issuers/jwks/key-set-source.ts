import type { KeyObject } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../platform/values/clock';
import { DomainError } from '../../platform/errors/domain-error';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { JwksFetchError } from './fetch-jwks';
import { candidates, type PublicKey, type KeySelector } from './public-keys';

const MINUTE_MS = 60_000;
/** Older keys are still used while they are fetched again. */
const FRESH_MS_MAX = 5 * MINUTE_MS;
/** When nobody has asked the source for so long, a caller waits for its answer: it may have withdrawn keys since. */
const UNASKED_MS_MAX = 10 * MINUTE_MS;
/** How long keys are used while their source is away. */
const TRUSTED_MS_MAX = 24 * 60 * MINUTE_MS;
/** Any client can send tokens with invented key ids. They cause at most one fetch in this time. */
const UNKNOWN_KEY_INTERVAL_MS = 10_000;
const PAUSE_AFTER_FAILURE_MS = 10_000;

/** The keys of one issuer, fetched when they are needed (contract section 2, `jwksUri`). */
export class KeySetSource {
  private keys: readonly PublicKey[] = [];
  /** When the fetch of `keys` began. Times are on the monotonic clock, in milliseconds. */
  private keysSinceMs = Number.NEGATIVE_INFINITY;
  private lastFetchMs = Number.NEGATIVE_INFINITY;
  /** When the last fetch ended, with keys or without. */
  private lastAnswerMs = Number.NEGATIVE_INFINITY;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  private runningFetch: Promise<void> | undefined;
  private readonly outage: OutageLog;

  constructor(
    /** How the log names the issuer. */
    name: string,
    private readonly fetch: () => Promise<readonly PublicKey[]>,
    private readonly clock: Clock,
  ) {
    // An outage can last for hours.
    this.outage = new OutageLog(new Logger(KeySetSource.name), {
      began: `The keys of ${name} cannot be fetched.`,
      ended: `The keys of ${name} can be fetched again.`,
    });
  }

  /**
   * The keys that a token may have been signed with; empty when no key of the source fits. Throws `unavailable` (503) when
   * there are no keys at all: the token may be valid.
   */
  async keysFor(selector: KeySelector): Promise<readonly KeyObject[]> {
    const isUnasked = this.clock.monotonicMs() - this.lastAnswerMs > UNASKED_MS_MAX;
    if (isUnasked || this.ageMs() > TRUSTED_MS_MAX) await this.refresh();
    if (this.ageMs() > TRUSTED_MS_MAX) throw this.unavailable();
    const found = candidates(this.keys, selector);
    if (found.length === 0) return this.keysAfterRefresh(selector);
    if (this.ageMs() > FRESH_MS_MAX) void this.refresh();
    return found;
  }

  /** The issuer may have started to sign with a new key. */
  private async keysAfterRefresh(selector: KeySelector): Promise<readonly KeyObject[]> {
    const due = this.clock.monotonicMs() - this.lastFetchMs >= UNKNOWN_KEY_INTERVAL_MS;
    if (!due && this.runningFetch === undefined) return [];
    await this.refresh();
    return candidates(this.keys, selector);
  }

  private ageMs(): number {
    return this.clock.monotonicMs() - this.keysSinceMs;
  }

  /** Runs one fetch at a time, shared by all waiting callers; none in the pause after a failure. Never rejects. */
  private async refresh(): Promise<void> {
    if (this.runningFetch === undefined && this.clock.monotonicMs() < this.pausedUntilMs) return;
    this.runningFetch ??= this.fetchOnce().finally(() => (this.runningFetch = undefined));
    await this.runningFetch;
  }

  private async fetchOnce(): Promise<void> {
    const startedMs = this.clock.monotonicMs();
    this.lastFetchMs = startedMs;
    try {
      const keys = await this.fetch();
      if (keys.length === 0) throw new JwksFetchError('The answer has no key that can verify tokens.');
      this.keys = keys;
      this.keysSinceMs = startedMs;
      this.outage.succeeded();
    } catch (error) {
      this.pausedUntilMs = this.clock.monotonicMs() + PAUSE_AFTER_FAILURE_MS;
      this.outage.failed(error instanceof JwksFetchError ? error.message : describeError(error).line);
    }
    this.lastAnswerMs = this.clock.monotonicMs();
  }

  private unavailable(): DomainError {
    const pauseMs = this.pausedUntilMs - this.clock.monotonicMs();
    return new DomainError('unavailable', 'The keys of the issuer of this token cannot be fetched now.', {
      retryAfterSeconds: Math.max(1, Math.ceil(pauseMs / 1000)),
    });
  }
}
