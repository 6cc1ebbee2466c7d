import fc from 'fast-check';
import { currentTimeMs } from './clock';
import { firstIdAt, nameId, newId } from './ids';

describe('nameId', () => {
  it('is a UUIDv8 that keeps its value for ever, since stored rows are found by it', () => {
    expect(nameId(['0195d1f2-0000-7000-8000-000000000001', 'shop.orders', 'order-1'])).toBe(
      'a681f1b4-df74-864b-a261-ed71c0700888',
    );
  });

  it('never gives one id to two lists that only read alike when put together', () => {
    const part = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed());
    const parts = fc.tuple(part, part, part);
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        expect(nameId(left) === nameId(right)).toBe(left.every((text, index) => text === right[index]));
      }),
    );
    expect(nameId(['shop|eu', '1'])).not.toBe(nameId(['shop', 'eu|1']));
    expect(nameId(['1', '1:1'])).not.toBe(nameId(['1:1', '1']));
  });

  it('has the version and variant bits of RFC 9562 whatever the name', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(nameId([text])).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      }),
    );
  });
});

describe('newId', () => {
  it('makes ids that sort by the order they were made in', () => {
    const ids = Array.from({ length: 1000 }, newId);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  it('makes UUIDv7 of the time, of which no two have the same random end', () => {
    const before = Math.floor(currentTimeMs());
    const ids = Array.from({ length: 1000 }, newId);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
      expect(ms).toBeGreaterThanOrEqual(before);
      expect(ms).toBeLessThanOrEqual(currentTimeMs());
    }
    expect(new Set(ids.map((id) => id.slice(-10))).size).toBe(ids.length);
  });

  it('makes none before the first id of its time, nor behind that of a later one', () => {
    const before = new Date(currentTimeMs());
    const ids = Array.from({ length: 100 }, newId).sort();
    const after = new Date(currentTimeMs() + 1);
    expect(firstIdAt(before) <= ids[0]!).toBe(true);
    expect(firstIdAt(after) > ids.at(-1)!).toBe(true);
    expect(firstIdAt(new Date('2026-11-22T00:00:00Z'))).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7000-8000-0{12}$/);
  });
});
