import { DomainError } from '../../../platform/errors/domain-error';
import { encodeCursor } from '../../../platform/pagination/cursor';
import { cursorAfter } from '../../../platform/pagination/time-key';
import { newId } from '../../../platform/values/ids';
import { cursorAfterEventType, eventTypePageStart } from './event-type-page';

describe('a cursor of event types', () => {
  it('starts the page right after its type, for every name', () => {
    for (const eventType of ['a', 'order.placed', '0', 'x'.repeat(128)]) {
      const key = { createdAt: new Date('2026-01-02T03:04:05.678Z'), eventType };
      expect(eventTypePageStart(cursorAfterEventType(key))).toEqual(key);
    }
    expect(eventTypePageStart(undefined)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['text', 'purchase'],
    ['a time that is none', encodeCursor(['soon', 'purchase'])],
    ['a name that is none', encodeCursor(['2026-01-02T03:04:05.678Z', "' OR true --"])],
    ['one part', encodeCursor(['2026-01-02T03:04:05.678Z'])],
  ])('is not %s', (_what, text) => {
    expect(() => eventTypePageStart(text)).toThrow(DomainError);
  });

  it('of another list is accepted: an id is a valid name', () => {
    expect(eventTypePageStart(cursorAfter({ at: new Date(0), id: newId() }))).toBeDefined();
  });
});
