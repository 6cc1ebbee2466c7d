import type { EffectFailure, StoredEventRecord } from './event-effects';
import { lastErrorOf, processingProblem, reasonOf } from './processing-problem';

const EVENT: StoredEventRecord = {
  ...{ eventId: 'event', family: 'cdp', source: 'shop', externalEventId: '1', eventType: 'purchase' },
  ...{ eventTypeVersion: 1, occurredAt: new Date(0), receivedAt: new Date(0), profileId: 'customer' },
  ...{ identity: { externalUserId: 'jane' }, properties: { amount: 7 } },
};
const FAULT = { path: 'properties.amount', code: 'type', message: 'properties.amount must be a number.' } as const;
const FAILURE: EffectFailure = { code: 'validation_failed', message: 'A value does not fit.', details: [FAULT] };

describe('an event that failed for good', () => {
  it('goes by the finest word there is for it', () => {
    expect(reasonOf(FAILURE)).toBe('type');
    expect(reasonOf({ ...FAILURE, details: [] })).toBe('validation_failed');
    expect(lastErrorOf(FAILURE)).toBe('type: A value does not fit.');
  });

  it('is told with the event that it is about, and nothing that the event says', () => {
    const problem = processingProblem('tenant', EVENT, FAILURE, 5);
    expect(problem).toMatchObject({
      ...{ severity: 'error', stage: 'processing', reason: 'type', eventId: 'event', source: 'shop', at: 5 },
      ...{ externalEventId: '1', eventType: 'purchase', details: [FAULT] },
    });
    expect(JSON.stringify(problem)).not.toMatch(/jane|7/);
  });
});
