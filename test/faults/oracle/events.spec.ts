import { eventViolations, type EventOutcome, type SentEvent, type StoredEvent } from './events';

const accepted = (eventId = 'row'): EventOutcome => ({ kind: 'accepted', eventId });
const duplicate = (eventId = 'row'): EventOutcome => ({ kind: 'duplicate', eventId });
const refused: EventOutcome = { kind: 'refused', code: 'identity_conflict' };
const unknown: EventOutcome = { kind: 'unknown' };

const sent = (...outcomes: EventOutcome[]): SentEvent => ({
  tenantId: 't',
  source: 's',
  externalEventId: 'x',
  outcomes,
});
const row = (fields: Partial<StoredEvent> = {}): StoredEvent => ({
  tenantId: 't',
  source: 's',
  externalEventId: 'x',
  eventId: 'row',
  ...fields,
});

describe('a sound journal', () => {
  it.each([
    ['accepted at once', [accepted()], [row()]],
    ['accepted after an unknown outcome that stored nothing', [unknown, accepted()], [row()]],
    ['a duplicate after an unknown outcome that stored it', [unknown, duplicate()], [row()]],
    ['a duplicate heard of before the acceptance', [duplicate(), accepted()], [row()]],
    ['refused for good', [refused, unknown], []],
    ['refused, mended and accepted', [refused, accepted()], [row()]],
    ['queued once', [accepted()], [row({ queued: 1 })]],
  ])('has no violations: %s', (_what, outcomes, rows) => {
    expect(eventViolations([sent(...outcomes)], rows)).toEqual([]);
  });
});

describe('a broken promise is seen', () => {
  it.each([
    ['accepted and lost', [accepted()], []],
    ['accepted more than once', [accepted(), accepted()], [row()]],
    ['stored more than once', [accepted()], [row(), row({ eventId: 'other' })]],
    ['called a duplicate of nothing', [unknown, duplicate()], []],
    ['never accepted before', [duplicate()], [row()]],
    ['never settled', [unknown], []],
    ['never settled', [], []],
    ['refused and stored', [refused], [row()]],
    ['answered with another id', [accepted('other')], [row()]],
    ['answered with another id', [accepted(), duplicate('other')], [row()]],
    ['queued 0 times', [accepted()], [row({ queued: 0 })]],
    ['queued 2 times', [accepted()], [row({ queued: 2 })]],
  ])('%s', (words, outcomes, rows) => {
    expect(eventViolations([sent(...outcomes)], rows)).toContain(`${words}: x`);
  });

  it.each([
    ['another event', row({ externalEventId: 'y' })],
    ['the event of another workspace', row({ tenantId: 'u' })],
    ['the event of another source', row({ source: 'z' })],
  ])('stored but never sent: %s', (_what, stranger) => {
    expect(eventViolations([sent(accepted())], [row(), stranger])).toEqual([
      `stored but never sent: ${stranger.externalEventId}`,
    ]);
  });
});
