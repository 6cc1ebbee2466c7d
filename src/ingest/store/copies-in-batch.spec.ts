import { OTHER_THAN_EXPIRED } from '../domain/deduplication';
import { type IngestResult, refusedByStore, type StoredResult } from '../domain/ingest-result';
import { storeCopies } from './copies-in-batch';

const ACCEPTED: StoredResult = { status: 'accepted', eventId: 'a', warnings: [], storedHash: 'same' };
const CONFLICT: IngestResult = refusedByStore('identity_conflict');

function event(eventId: string, contentHash = 'same') {
  return { eventId, contentHash };
}

describe('storeCopies', () => {
  it('stores the first of equal ids and answers the others by it', async () => {
    const stored: unknown[] = [];
    const results = await storeCopies([event('a'), event('b'), event('a'), event('a', 'other')], (unique) => {
      stored.push(unique.map(({ eventId }) => eventId));
      return Promise.resolve(unique.map(() => ACCEPTED));
    });
    expect(stored).toEqual([['a', 'b']]);
    expect(results).toEqual([
      ACCEPTED,
      ACCEPTED,
      { status: 'duplicate', eventId: 'a', warnings: [], storedHash: 'same', hasUnrecordedWarnings: true },
      {
        status: 'duplicate',
        eventId: 'a',
        warnings: ['payload_mismatch'],
        storedHash: 'same',
        hasUnrecordedWarnings: true,
      },
    ]);
  });

  it('compares copies with what is stored, not with one another', async () => {
    const stored: IngestResult = {
      status: 'duplicate',
      eventId: 'a',
      warnings: ['payload_mismatch'],
      storedHash: 'stored',
    };
    const batch = [event('a', 'other'), event('a', 'other'), event('a', 'stored')];
    const results = await storeCopies(batch, () => Promise.resolve([stored]));
    expect(results.map((result) => 'warnings' in result && result.warnings)).toEqual([
      ['payload_mismatch'],
      ['payload_mismatch'],
      [],
    ]);
  });

  it('gives a copy that says something else its own chance when the first is refused', async () => {
    const batch = [event('a', 'bad'), event('a', 'bad'), event('a', 'good'), event('a', 'good')];
    const results = await storeCopies(batch, (unique) =>
      Promise.resolve(
        unique.map(({ contentHash }) => (contentHash === 'bad' ? CONFLICT : { ...ACCEPTED, storedHash: contentHash })),
      ),
    );
    const good = { eventId: 'a', warnings: [], storedHash: 'good' };
    expect(results).toEqual([
      CONFLICT,
      CONFLICT,
      { status: 'accepted', ...good },
      { status: 'duplicate', ...good, hasUnrecordedWarnings: true },
    ]);
  });

  it('compares each copy with an expired event, and comes to an end with any number of them', async () => {
    let rounds = 0;
    const others = Array.from({ length: 20 }, (_unused, number) => event('a', String(number)));
    const batch = [event('a', 'differing'), event('a', 'expired'), event('a', 'differing'), ...others];
    const results = await storeCopies(batch, (unique) => {
      rounds += 1;
      return Promise.resolve(
        unique.map(({ contentHash }) => {
          const isSame = contentHash === 'expired';
          const warnings = isSame ? [] : (['payload_mismatch'] as const);
          return { status: 'duplicate', eventId: 'a', warnings, storedHash: isSame ? 'expired' : OTHER_THAN_EXPIRED };
        }),
      );
    });
    const warnings = results.map((result) => 'warnings' in result && result.warnings.length);
    expect(warnings).toEqual([1, 0, 1, ...others.map(() => 1)]);
    expect(rounds).toBeLessThanOrEqual(8);
  });

  it('comes to an end with any number of different copies of a refused event', async () => {
    let rounds = 0;
    const batch = Array.from({ length: 400 }, (_unused, number) => event('a', String(number)));
    const results = await storeCopies(batch, (unique) => {
      rounds += 1;
      return Promise.resolve(unique.map(() => CONFLICT));
    });
    expect(rounds).toBe(8);
    expect(results[0]).toEqual(CONFLICT);
    expect(results[399]).toEqual(refusedByStore('unavailable'));
  });
});
