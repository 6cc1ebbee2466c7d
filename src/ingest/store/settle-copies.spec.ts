import type { Outcome } from '../domain/outcome';
import { settleCopies } from './settle-copies';

const ACCEPTED: Outcome = { status: 'accepted', warnings: [], storedHash: 'same' };
const CONFLICT: Outcome = { status: 'refused', code: 'identity_conflict' };

function event(eventId: string, contentHash = 'same') {
  return { eventId, contentHash };
}

describe('settleCopies', () => {
  it('stores the first of equal ids and answers the others by it', async () => {
    const stored: unknown[] = [];
    const outcomes = await settleCopies([event('a'), event('b'), event('a'), event('a', 'other')], (unique) => {
      stored.push(unique.map(({ eventId }) => eventId));
      return Promise.resolve(unique.map(() => ACCEPTED));
    });
    expect(stored).toEqual([['a', 'b']]);
    expect(outcomes).toEqual([
      ACCEPTED,
      ACCEPTED,
      { status: 'duplicate', warnings: [], storedHash: 'same', copy: true },
      { status: 'duplicate', warnings: ['payload_mismatch'], storedHash: 'same', copy: true },
    ]);
  });

  it('compares copies with what is stored, not with one another', async () => {
    const stored: Outcome = { status: 'duplicate', warnings: ['payload_mismatch'], storedHash: 'stored' };
    const batch = [event('a', 'other'), event('a', 'other'), event('a', 'stored')];
    const outcomes = await settleCopies(batch, () => Promise.resolve([stored]));
    expect(outcomes.map((outcome) => 'warnings' in outcome && outcome.warnings)).toEqual([
      ['payload_mismatch'],
      ['payload_mismatch'],
      [],
    ]);
  });

  it('gives a copy that says something else its own chance when the first is refused', async () => {
    const batch = [event('a', 'bad'), event('a', 'bad'), event('a', 'good'), event('a', 'good')];
    const outcomes = await settleCopies(batch, (unique) =>
      Promise.resolve(
        unique.map(({ contentHash }) => (contentHash === 'bad' ? CONFLICT : { ...ACCEPTED, storedHash: contentHash })),
      ),
    );
    const good = { warnings: [], storedHash: 'good' };
    expect(outcomes).toEqual([
      CONFLICT,
      CONFLICT,
      { status: 'accepted', ...good },
      { status: 'duplicate', ...good, copy: true },
    ]);
  });

  it('comes to an end with any number of different copies of a refused event', async () => {
    let rounds = 0;
    const batch = Array.from({ length: 400 }, (_unused, number) => event('a', String(number)));
    const outcomes = await settleCopies(batch, (unique) => {
      rounds += 1;
      return Promise.resolve(unique.map(() => CONFLICT));
    });
    expect(rounds).toBe(8);
    expect(outcomes[0]).toEqual(CONFLICT);
    expect(outcomes[399]).toEqual({ status: 'refused', code: 'unavailable' });
  });
});
