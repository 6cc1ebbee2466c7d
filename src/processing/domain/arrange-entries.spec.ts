import type { EntryKey } from '../../ingest/queue/queue-partition';
import { arrangeEntries, type Arrangeable } from './arrange-entries';

const key = (second: number, position = 1): EntryKey => ({
  queuedAt: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`,
  position,
});
const entry = (second: number, queuedFor: string, rootId = queuedFor): Arrangeable => ({
  ...key(second),
  queuedFor,
  rootId,
});

function arranged(
  entries: readonly Arrangeable[],
  parked: Readonly<Record<string, EntryKey>> = {},
  elsewhere: Readonly<Record<string, EntryKey>> = {},
  held = new Set<string>(),
) {
  const { ready, behind, deferred } = arrangeEntries(
    entries,
    { firstParked: new Map(Object.entries(parked)), firstElsewhere: ({ rootId }) => elsewhere[rootId] },
    held,
  );
  const seconds = (list: readonly Arrangeable[]) => list.map(({ queuedAt }) => Number(queuedAt.slice(17, 19)));
  return { ready: seconds(ready), behind: seconds(behind), deferred: seconds(deferred), held: [...held] };
}

describe('the entries whose turn it is', () => {
  it('are all of them, in their order, when nothing of their customers is elsewhere', () => {
    expect(arranged([entry(1, 'a'), entry(2, 'b'), entry(3, 'a')])).toEqual({
      ready: [1, 2, 3],
      behind: [],
      deferred: [],
      held: [],
    });
  });

  it('are not those behind a parked one of their profile; other customers go on', () => {
    expect(arranged([entry(2, 'a'), entry(3, 'b'), entry(4, 'a')], { a: key(1) })).toEqual({
      ready: [3],
      behind: [2, 4],
      deferred: [],
      held: ['a'],
    });
  });

  it('are those before the first parked one of their profile', () => {
    expect(arranged([entry(2, 'a'), entry(4, 'a')], { a: key(3) })).toMatchObject({ ready: [2], behind: [4] });
  });

  it('are not those of a merged customer who has earlier ones elsewhere, but those before these', () => {
    expect(arranged([entry(1, 'a'), entry(3, 'a'), entry(4, 'b')], {}, { a: key(2) })).toMatchObject({
      ready: [1, 4],
      deferred: [3],
    });
  });

  it('are none of a customer of whom an earlier one was left behind, whatever profile they were queued for', () => {
    expect(arranged([entry(2, 'b', 'root')], {}, {}, new Set(['root']))).toMatchObject({ ready: [], deferred: [2] });
    expect(arranged([entry(2, 'a', 'root'), entry(3, 'b', 'root')], { a: key(1) })).toMatchObject({
      ready: [],
      behind: [2],
      deferred: [3],
    });
  });

  it('are those that are as early as the entry elsewhere: no entry waits for itself', () => {
    expect(arranged([entry(1, 'a')], { a: key(1) }, { a: key(1) })).toMatchObject({ ready: [1] });
  });
});
