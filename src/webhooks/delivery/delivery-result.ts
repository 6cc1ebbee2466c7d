import { isGivenUp, parseRetryAfter, retryDelayMs } from '../domain/retry-schedule';
import { GONE_STATUS, type Attempt, type FailureReason } from '../domain/webhook';
import type { ClaimedDelivery, DueEndpoint } from './claimed-delivery';
import type { CallResult } from './webhook-client';

/** What is to be stored about a claimed delivery. */
export interface DeliveryResult {
  readonly delivery: ClaimedDelivery;
  readonly state: 'delivered' | 'pending' | 'failed';
  /** Null: nothing was sent, or the end of the process cut it off. */
  readonly attempt: Attempt | null;
  readonly reason: FailureReason | null;
  /** Until the next attempt, of one that is pending. */
  readonly delayMs: number;
}

/** The result of a call that ended. */
export function resultOfCall(
  delivery: ClaimedDelivery,
  { failingSince }: Pick<DueEndpoint, 'failingSince'>,
  at: Date,
  { outcome, status, answer, durationMs, retryAfter }: CallResult,
): DeliveryResult {
  const attempt = { at: at.toISOString(), outcome, status, answer, durationMs };
  if (outcome === 'delivered') return { delivery, state: 'delivered', attempt, reason: null, delayMs: 0 };
  const failures = delivery.failures + 1;
  const firstAttemptAt = delivery.firstAttemptAt ?? at;
  // What an endpoint that is gone does not take waits until it is enabled.
  if (status !== GONE_STATUS && isGivenUp({ failures, firstAttemptAt, failingSince })) {
    return { delivery, state: 'failed', attempt, reason: 'attempts_used_up', delayMs: 0 };
  }
  const delayMs = retryDelayMs(failures, Math.random(), parseRetryAfter(retryAfter, at));
  return { delivery, state: 'pending', attempt, reason: null, delayMs };
}

/** Nothing is left to be sent. */
export function endedResult(delivery: ClaimedDelivery, reason: 'event_gone' | 'profile_erased'): DeliveryResult {
  return { delivery, state: 'failed', attempt: null, reason, delayMs: 0 };
}

/** The process stops, or was too slow to begin the call: it is made by another one, or later. */
export function cutOffResult(delivery: ClaimedDelivery): DeliveryResult {
  return { delivery, state: 'pending', attempt: null, reason: null, delayMs: 0 };
}

/** A call that failed while its endpoint was enabled, or got another address: the attempts begin anew, at once. */
export function anewResult(result: DeliveryResult): DeliveryResult {
  return { ...result, state: 'pending', reason: null, delayMs: 0 };
}
