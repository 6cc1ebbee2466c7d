import { aStoredEvent } from '../../../test/support/stored-event';
import type { EffectFailure } from './event-effects';
import { attemptDelayMs, ATTEMPTS_MAX, lastErrorOf, processingProblem, reasonOf } from './processing-outcome';
import fc from 'fast-check';

const EVENT = aStoredEvent({
  eventId: 'event',
  externalEventId: '1',
  identity: { externalUserId: 'jane' },
  properties: { amount: 7 },
});
const FAULT = { path: 'properties.amount', code: 'type', message: 'properties.amount must be a number.' } as const;
const FAILURE: EffectFailure = { code: 'validation_failed', message: 'A value does not fit.', details: [FAULT] };

describe('an event that failed for good', () => {
  it('is named by its finest code', () => {
    expect(reasonOf(FAILURE)).toBe('type');
    expect(reasonOf({ ...FAILURE, details: [] })).toBe('validation_failed');
    expect(lastErrorOf(FAILURE)).toBe('type: A value does not fit.');
  });

  it('names the event, and none of its values', () => {
    const problem = processingProblem('tenant', EVENT, FAILURE, 5);
    expect(problem).toMatchObject({
      severity: 'error',
      stage: 'processing',
      reason: 'type',
      eventId: 'event',
      source: 'shop',
      at: 5,
      externalEventId: '1',
      eventType: 'purchase',
      details: [FAULT],
    });
    expect(JSON.stringify(problem)).not.toMatch(/jane|7/);
  });
});

/** A job may wait so long after it is due. */
const POLL_MS = 1_000;

describe('the wait before another attempt', () => {
  it('grows, and is over for good after the fifth', () => {
    expect([1, 2, 3, 4, 5, 6].map((attempts) => attemptDelayMs(attempts, 0.5))).toEqual([
      ...[1_000, 3_000, 8_000, 18_000, undefined, undefined],
    ]);
  });

  it('leaves room for all attempts within a minute, whatever the dice say', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 4, maxLength: 4 }), (dice) => {
        const waits = dice.map((random, index) => attemptDelayMs(index + 1, random) ?? 0);
        const all = waits.reduce((sum, wait) => sum + wait + POLL_MS, 0);
        expect(waits).toHaveLength(ATTEMPTS_MAX - 1);
        expect(all).toBeLessThan(50_000);
      }),
    );
  });
});
