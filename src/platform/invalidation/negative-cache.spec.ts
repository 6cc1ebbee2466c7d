import { TestClock } from '../../../test/support/test-clock';
import { DomainError } from '../errors/domain-error';
import type { InvalidationFeed } from './invalidation-feed';
import { NegativeCache } from './negative-cache';

const clock = new TestClock();
let isFresh: boolean;
let changedAtMs: number;
const feed = {
  isFresh: () => isFresh,
  changedHereSince: (_kind: string, readAtMs: number) => changedAtMs >= readAtMs,
} as unknown as InvalidationFeed;
const aCache = (): NegativeCache => new NegativeCache('jwt_issuer', feed, clock);
const refused = (): DomainError => new DomainError('invalid_token', 'No.', { headers: { 'WWW-Authenticate': 'x' } });

beforeEach(() => {
  isFresh = true;
  changedAtMs = Number.NEGATIVE_INFINITY;
});

describe('a negative cache', () => {
  it('repeats a refusal for 900 ms, with its words and headers', () => {
    const cache = aCache();
    expect(cache.remember('a', refused(), clock.monotonicMs())).toBe(true);
    clock.pass(900);
    expect(cache.recall('a')).toMatchObject({ code: 'invalid_token', message: 'No.', extras: refused().extras });
    expect(cache.recall('b')).toBeUndefined();
    clock.pass(1);
    expect(cache.recall('a')).toBeUndefined();
  });

  it('remembers nothing but refusals', () => {
    const cache = aCache();
    for (const error of [
      new DomainError('unavailable', 'Away.'),
      new DomainError('insufficient_scope', 'x'),
      new Error(),
    ]) {
      expect(cache.remember('a', error, clock.monotonicMs())).toBe(false);
    }
    expect(cache.recall('a')).toBeUndefined();
  });

  it('forgets all when this node changes something of the kind, and trusts nothing while it sees no changes', () => {
    const cache = aCache();
    cache.remember('a', refused(), clock.monotonicMs());
    isFresh = false;
    expect(cache.recall('a')).toBeUndefined();
    isFresh = true;
    expect(cache.recall('a')).toBeDefined();
    changedAtMs = clock.monotonicMs();
    expect(cache.recall('a')).toBeUndefined();
  });

  it('holds what another cache told it for no longer than that one', async () => {
    const [inner, outer] = [aCache(), aCache()];
    inner.remember('issuer', refused(), clock.monotonicMs());
    clock.pass(800);
    const verify = (): Promise<never> => Promise.reject(inner.recall('issuer') ?? new Error('asked again'));
    await expect(outer.unlessRefused(() => 'token', verify)).rejects.toThrow('No.');
    clock.pass(100);
    await expect(outer.unlessRefused(() => 'token', verify)).rejects.toThrow('No.');
    clock.pass(1);
    await expect(outer.unlessRefused(() => 'token', verify)).rejects.toThrow('asked again');
  });

  it('verifies once, and asks for no key while nothing was refused', async () => {
    const cache = aCache();
    let verified = 0;
    const verify = (): Promise<never> => {
      verified += 1;
      return Promise.reject(refused());
    };
    const never = (): string => {
      throw new Error('asked for a key');
    };
    expect(await cache.unlessRefused(never, () => Promise.resolve('good'))).toBe('good');
    for (let call = 0; call < 3; call += 1) {
      await expect(cache.unlessRefused(() => 'a', verify)).rejects.toThrow('No.');
    }
    expect(verified).toBe(1);
  });
});
