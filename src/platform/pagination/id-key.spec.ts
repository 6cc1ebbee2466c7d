import { DomainError } from '../errors/domain-error';
import { newId } from '../values/ids';
import { encodeCursor } from './cursor';
import { idPage, idPageStart } from './id-key';
import { cursorAfter } from './time-key';

const row = (id = newId()) => ({ id });

/** Newest first, `limit` and one more, as a list asks the database. */
const found = (ids: readonly string[], start: string, limit: number) =>
  ids
    .filter((id) => id < start)
    .sort()
    .reverse()
    .slice(0, limit + 1)
    .map(row);

describe('a list by ids', () => {
  it.each([1, 2, 3, 6, 7, 8])('shows each of seven rows once, newest first, in pages of %d', (limit) => {
    const ids = Array.from({ length: 7 }, newId);
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const { rows, nextCursor } = idPage(found(ids, idPageStart(cursor), limit), limit);
      expect(rows.length).toBeGreaterThan(0);
      seen.push(...rows.map(({ id }) => id));
      if (nextCursor === null) break;
      expect(rows).toHaveLength(limit);
      cursor = nextCursor;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  it('has one empty page when nothing is there', () => {
    expect(idPage([], 50)).toEqual({ rows: [], nextCursor: null });
  });

  it.each([
    ['nothing', ''],
    ['text', 'tomorrow'],
    ['an id that is not packed', newId()],
    ['a cursor of a list by time', cursorAfter({ at: new Date(0), id: newId() })],
    ['a cursor around other text', encodeCursor(["' OR true --"])],
  ])('refuses %s for a cursor', (_what, text) => {
    expect(() => idPageStart(text)).toThrow(DomainError);
  });
});
