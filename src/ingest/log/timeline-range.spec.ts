import { timelineRange } from './timeline-range';

const at = (text: string): number => Date.parse(text);
const FROM = at('2026-01-02T00:00:00Z');
const TO = at('2026-02-03T00:00:00Z');
const FIRST = '00000000-0000-0000-0000-000000000000';
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const cursor = (text: string, id = '5') => ({ at: new Date(text), id });

describe('timelineRange', () => {
  it('is everything when nothing is asked', () => {
    expect(timelineRange({ order: 'desc' })).toEqual({ startAt: 'infinity', startId: LAST, end: '-infinity' });
    expect(timelineRange({ order: 'asc' })).toEqual({ startAt: '-infinity', startId: FIRST, end: 'infinity' });
  });

  it('is what occurred from the one time on and before the other, in either order', () => {
    expect(timelineRange({ order: 'desc', from: FROM, to: TO })).toEqual({
      startAt: '2026-02-03T00:00:00.000Z',
      startId: FIRST,
      end: '2026-01-02T00:00:00.000Z',
    });
    expect(timelineRange({ order: 'asc', from: FROM, to: TO })).toEqual({
      startAt: '2026-01-02T00:00:00.000Z',
      startId: FIRST,
      end: '2026-02-03T00:00:00.000Z',
    });
  });

  it.each(['desc', 'asc'] as const)('begins at the cursor inside of the span (%s)', (order) => {
    const range = timelineRange({ order, from: FROM, to: TO, after: cursor('2026-01-15T00:00:00Z') });
    expect(range).toMatchObject({ startAt: '2026-01-15T00:00:00.000Z', startId: '5' });
  });

  it('never leaves the span for a cursor of another one', () => {
    const late = cursor('2026-03-01T00:00:00Z');
    const early = cursor('2025-03-01T00:00:00Z');
    expect(timelineRange({ order: 'desc', to: TO, after: late }).startAt).toBe('2026-02-03T00:00:00.000Z');
    expect(timelineRange({ order: 'asc', from: FROM, after: early }).startAt).toBe('2026-01-02T00:00:00.000Z');
  });

  it('goes on behind the cursor where the span begins at the same time', () => {
    const same = cursor('2026-01-02T00:00:00Z');
    expect(timelineRange({ order: 'asc', from: FROM, after: same }).startId).toBe('5');
    const sameTo = cursor('2026-02-03T00:00:00Z');
    expect(timelineRange({ order: 'desc', to: TO, after: sameTo }).startId).toBe(FIRST);
  });
});
