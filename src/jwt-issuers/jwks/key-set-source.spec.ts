import { generateKeyPairSync } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { JwksFetchError } from './fetch-jwks';
import { KeySetSource } from './key-set-source';
import { usableKeys, type PublicKey } from './public-keys';
import { TestClock } from '../../../test/support/test-clock';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

const JWK = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const UNAVAILABLE = { code: 'unavailable' };

function keysOf(...kids: string[]): readonly PublicKey[] {
  return usableKeys(kids.map((kid) => ({ ...JWK, kid })));
}

/** A source that publishes what the test says, with a clock that the test moves. */
function aSource() {
  const clock = new TestClock();
  const upstream = {
    fetches: 0,
    answer: (): Promise<readonly PublicKey[]> => Promise.resolve(keysOf('a')),
    publish(...kids: string[]) {
      this.answer = () => Promise.resolve(keysOf(...kids));
    },
    fail(error: Error = new JwksFetchError('The answer has status 500.')) {
      this.answer = () => Promise.reject(error);
    },
    /** Fetches stand still until the function that it gives is called. */
    hold(): () => void {
      const { answer } = this;
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      this.answer = () => released.then(answer);
      return release;
    },
  };
  const fetch = () => {
    upstream.fetches += 1;
    return upstream.answer();
  };
  const source = new KeySetSource('JWT issuer 1', fetch, clock);
  /** How many keys there are for a token. */
  const ask = async (kid = 'a') => (await source.keysFor({ alg: 'ES256', kid })).length;
  return { clock, upstream, ask };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('KeySetSource', () => {
  const logged: string[] = [];

  beforeEach(() => {
    logged.length = 0;
    for (const level of ['log', 'warn'] as const) {
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((...[line]: unknown[]) => void logged.push(`${level} ${String(line)}`));
    }
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('fetches once for 500 callers at the same time, known and unknown kids alike', async () => {
    const { upstream, ask } = aSource();
    const answers = await Promise.all(Array.from({ length: 500 }, (_, index) => ask(index % 2 === 0 ? 'a' : 'z')));
    expect(answers.filter((count) => count === 1)).toHaveLength(250);
    expect(upstream.fetches).toBe(1);
  });

  it('uses keys for five minutes without a fetch, then refreshes them behind the caller', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(5 * MINUTE_MS);
    expect(await ask()).toBe(1);
    expect(upstream.fetches).toBe(1);

    clock.pass(1);
    upstream.publish('b');
    const release = upstream.hold();
    // The fetch stands still, and nobody waits for it.
    expect(await Promise.all(Array.from({ length: 100 }, () => ask()))).toEqual(Array(100).fill(1));
    expect(upstream.fetches).toBe(2);
    release();
    await settled();
    expect([await ask('b'), await ask('a')]).toEqual([1, 0]);
    expect(upstream.fetches).toBe(2);
  });

  it('uses no key that was withdrawn while nobody asked, for the tokens of that moment neither', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(10 * MINUTE_MS + 1);
    upstream.publish('b');
    const release = upstream.hold();
    const asking = [ask('a'), ask('a'), ask('b')];
    await settled();
    release();
    expect(await Promise.all(asking)).toEqual([0, 0, 1]);
    expect(upstream.fetches).toBe(2);
  });

  it('waits for an absent source once and uses the last keys from then on', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(60 * MINUTE_MS);
    upstream.fail();
    expect(await ask()).toBe(1);
    clock.pass(11 * SECOND_MS);
    upstream.hold();
    // The fetch stands still.
    expect(await ask()).toBe(1);
    expect(upstream.fetches).toBe(3);
  });

  it('finds a key that the issuer has begun to sign with at the first token that names it', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(10 * SECOND_MS);
    upstream.publish('a', 'b');
    expect(await Promise.all([ask('b'), ask('b'), ask('a')])).toEqual([1, 1, 1]);
    expect(upstream.fetches).toBe(2);
  });

  it('fetches at most once in 10 s for kids that nobody knows', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    for (let second = 1; second <= 60; second++) {
      clock.pass(SECOND_MS);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(`unknown-${index}`)));
      expect(answers).toEqual(Array(50).fill(0));
      expect(upstream.fetches).toBe(1 + Math.floor(second / 10));
    }
  });

  it('counts the 10 s from the beginning of a fetch, and lets an unknown kid wait for one that is under way', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(5 * MINUTE_MS + 1);
    upstream.publish('a', 'b');
    const release = upstream.hold();
    await ask('a');
    const waiting = ask('b');
    clock.pass(4 * SECOND_MS);
    release();
    expect(await waiting).toBe(1);
    clock.pass(6 * SECOND_MS - 1);
    await ask('c');
    expect(upstream.fetches).toBe(2);
    clock.pass(1);
    await ask('c');
    expect(upstream.fetches).toBe(3);
  });

  it('refuses with 503 when it never had keys, and asks nobody for 10 s after a failure', async () => {
    const { clock, upstream, ask } = aSource();
    upstream.fail();
    const refusals = await Promise.allSettled(Array.from({ length: 100 }, () => ask()));
    expect(refusals.every((each) => each.status === 'rejected')).toBe(true);
    expect(upstream.fetches).toBe(1);
    await expect(ask()).rejects.toMatchObject({ ...UNAVAILABLE, extras: { retryAfterSeconds: 10 } });
    clock.pass(6.5 * SECOND_MS);
    await expect(ask()).rejects.toMatchObject({ ...UNAVAILABLE, extras: { retryAfterSeconds: 4 } });
    clock.pass(3.5 * SECOND_MS - 1);
    await expect(ask()).rejects.toMatchObject({ ...UNAVAILABLE, extras: { retryAfterSeconds: 1 } });
    expect(upstream.fetches).toBe(1);

    clock.pass(1);
    upstream.publish('a');
    expect(await ask()).toBe(1);
    expect(upstream.fetches).toBe(2);
  });

  it('pauses from the end of a failed fetch', async () => {
    const { clock, upstream, ask } = aSource();
    upstream.fail();
    const release = upstream.hold();
    const first = ask();
    clock.pass(5 * SECOND_MS);
    release();
    await expect(first).rejects.toMatchObject({ extras: { retryAfterSeconds: 10 } });
    clock.pass(10 * SECOND_MS - 1);
    await expect(ask()).rejects.toMatchObject(UNAVAILABLE);
    expect(upstream.fetches).toBe(1);
  });

  it('uses the last good keys for a day while the source is away, then refuses with 503, and recovers', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    upstream.fail();
    for (let minutes = 0; minutes < 24 * 60; minutes += 6) {
      clock.pass(6 * MINUTE_MS);
      expect([await ask(), await ask('new')]).toEqual([1, 0]);
    }
    await settled();
    clock.pass(1);
    await expect(ask()).rejects.toMatchObject(UNAVAILABLE);

    clock.pass(10 * SECOND_MS);
    upstream.publish('b');
    expect(await ask('b')).toBe(1);
  });

  it.each([
    ['an empty set', (upstream: ReturnType<typeof aSource>['upstream']) => upstream.publish()],
    ['an error of a kind that nobody foresaw', (upstream) => upstream.fail(new TypeError('https://secret.example'))],
    [
      'a fetch that throws at once',
      (upstream) => {
        upstream.answer = () => {
          throw new Error('https://secret.example');
        };
      },
    ],
  ])('keeps the keys it has at %s, and pauses', async (_what, breakSource) => {
    const { clock, upstream, ask } = aSource();
    await ask();
    clock.pass(6 * MINUTE_MS);
    breakSource(upstream);
    expect(await ask()).toBe(1);
    await settled();
    expect([await ask(), await ask('z')]).toEqual([1, 0]);
    expect(upstream.fetches).toBe(2);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain('secret');
  });

  it('tells once that the source is away and once that it is back', async () => {
    const { clock, upstream, ask } = aSource();
    await ask();
    upstream.fail();
    for (let failures = 0; failures < 3; failures++) {
      clock.pass(6 * MINUTE_MS);
      await ask();
      await settled();
    }
    upstream.publish('a');
    clock.pass(6 * MINUTE_MS);
    await ask();
    await settled();
    expect(upstream.fetches).toBe(5);
    expect(logged).toEqual([
      'warn The keys of JWT issuer 1 cannot be fetched. The answer has status 500.',
      'log The keys of JWT issuer 1 can be fetched again.',
    ]);
  });
});
