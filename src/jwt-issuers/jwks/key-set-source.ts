import type { KeyObject } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Clock } from '../../platform/values/clock';
import { DomainError } from '../../platform/errors/domain-error';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { JwksFetchError } from './fetch-jwks';
import { candidates, type PublicKey, type KeySelector } from './public-keys';

const MINUTE_MS = 60_000;
/** Older keys are still used, while newer ones are fetched. */
const FRESH_MS_MAX = 5 * MINUTE_MS;
/** How long the keys of a source that is away are trusted. */
const TRUSTED_MS_MAX = 24 * 60 * MINUTE_MS;
/** Anybody can send tokens with made-up key ids; so often at most do they cause a fetch. */
const UNKNOWN_KEY_INTERVAL_MS = 10_000;
const PAUSE_AFTER_FAILURE_MS = 10_000;

/** The keys of one issuer, fetched when they are needed (contract section 2, `jwksUri`). */
export class KeySetSource {
  private keys: readonly PublicKey[] = [];
  /** When the fetch of `keys` began. Times are on the monotonic clock, in milliseconds. */
  private keysSinceMs = Number.NEGATIVE_INFINITY;
  private lastFetchMs = Number.NEGATIVE_INFINITY;
  private pausedUntilMs = Number.NEGATIVE_INFINITY;
  private underWay: Promise<void> | undefined;
  private readonly outage: OutageLog;

  constructor(
    /** How the log names the issuer. */
    name: string,
    private readonly fetch: () => Promise<readonly PublicKey[]>,
    private readonly clock: Clock,
  ) {
    // It can last for hours.
    this.outage = new OutageLog(new Logger(KeySetSource.name), {
      began: `The keys of ${name} cannot be fetched.`,
      ended: `The keys of ${name} can be fetched again.`,
    });
  }

  /**
   * The keys that a token may have been signed with; none when the source has none that fits. Throws `unavailable` (503)
   * when there are no keys at all: the token may well be good.
   */
  async keysFor(wanted: KeySelector): Promise<readonly KeyObject[]> {
    if (this.ageMs() > TRUSTED_MS_MAX) {
      await this.refresh();
      if (this.ageMs() > TRUSTED_MS_MAX) throw this.unavailable();
    }
    const found = candidates(this.keys, wanted);
    if (found.length === 0) return this.keysUnknownUntilNow(wanted);
    if (this.ageMs() > FRESH_MS_MAX) void this.refresh();
    return found;
  }

  /** The issuer may have begun to sign with a new key. */
  private async keysUnknownUntilNow(wanted: KeySelector): Promise<readonly KeyObject[]> {
    const due = this.clock.monotonicMs() - this.lastFetchMs >= UNKNOWN_KEY_INTERVAL_MS;
    if (!due && this.underWay === undefined) return [];
    await this.refresh();
    return candidates(this.keys, wanted);
  }

  private ageMs(): number {
    return this.clock.monotonicMs() - this.keysSinceMs;
  }

  /** One fetch at a time, shared by all who wait for it; none in the pause after a failure. Never rejects. */
  private async refresh(): Promise<void> {
    if (this.underWay === undefined && this.clock.monotonicMs() < this.pausedUntilMs) return;
    this.underWay ??= this.fetchOnce().finally(() => (this.underWay = undefined));
    await this.underWay;
  }

  private async fetchOnce(): Promise<void> {
    const beganMs = this.clock.monotonicMs();
    this.lastFetchMs = beganMs;
    try {
      const keys = await this.fetch();
      if (keys.length === 0) throw new JwksFetchError('The answer has no key that can verify tokens.');
      this.keys = keys;
      this.keysSinceMs = beganMs;
      this.outage.succeeded();
    } catch (error) {
      this.pausedUntilMs = this.clock.monotonicMs() + PAUSE_AFTER_FAILURE_MS;
      this.outage.failed(error instanceof JwksFetchError ? error.message : describeError(error).line);
    }
  }

  private unavailable(): DomainError {
    const pauseMs = this.pausedUntilMs - this.clock.monotonicMs();
    return new DomainError('unavailable', 'The keys of the issuer of this token cannot be fetched now.', {
      retryAfterSeconds: Math.max(1, Math.ceil(pauseMs / 1000)),
    });
  }
}
