import { createHash, createPublicKey, verify, createHmac, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import {
  assertTimely,
  signedTarget,
  readContentDigest,
  signatureBase,
  readSignature,
  type SignedMessage,
  ed25519Key,
  hmacKey,
  isSignedWith,
  type VerifyingKey,
} from './request-signature';
import {
  aKeyPair,
  COMPONENTS,
  digestOf,
  ed25519Signer,
  hmacSigner,
  signatureOf,
  type Signer,
} from '../../../test/support/signatures';
import { shuffled } from '../../../test/support/builders';
import { checkContentDigest } from '../../platform/http/body/content-digest';

const NOW_SECONDS = 1_767_323_045;
const now = new Date(NOW_SECONDS * 1_000);
const at =
  (created: number, expires?: number, time = now) =>
  () => {
    assertTimely({ created, expires }, time);
  };

describe('the time of a signature', () => {
  it.each([-300, -299, 0, 299, 300])('may lie %d s from now', (seconds) => {
    expect(at(NOW_SECONDS + seconds)).not.toThrow();
  });

  it.each([-301, 301, -NOW_SECONDS, -NOW_SECONDS - 1, 999_999_999_999_999, -999_999_999_999_999])(
    'may not lie %d s from now',
    (seconds) => {
      expect(at(NOW_SECONDS + seconds)).toThrow(/created lies more than 300 s (?:before|after) the service's time/);
    },
  );

  it('may lie 300 s from now to the millisecond', () => {
    const later = (ms: number): Date => new Date(now.getTime() + ms);
    expect(at(NOW_SECONDS - 300, undefined, later(0))).not.toThrow();
    expect(at(NOW_SECONDS - 300, undefined, later(1))).toThrow(/before/);
    expect(at(NOW_SECONDS + 300, undefined, later(0))).not.toThrow();
    expect(at(NOW_SECONDS + 300, undefined, later(-1))).toThrow(/after/);
  });

  it('ends when the signature expires, also within the window', () => {
    expect(at(NOW_SECONDS, NOW_SECONDS + 1)).not.toThrow();
    expect(at(NOW_SECONDS, NOW_SECONDS)).toThrow(/expired/);
    expect(at(NOW_SECONDS - 100, NOW_SECONDS - 50)).toThrow(/expired/);
    expect(at(NOW_SECONDS - 301, NOW_SECONDS + 1_000)).toThrow(/created/);
  });
});

describe('a request target', () => {
  it.each([
    ['/v1/external-events', '/v1/external-events', '?'],
    ['/v1/external-events?', '/v1/external-events', '?'],
    ['/v1/external-events?dry_run=true', '/v1/external-events', '?dry_run=true'],
    ['/v1/external-events?a=?b&c=%20', '/v1/external-events', '?a=?b&c=%20'],
    ['/v1/external-events%3Abatch', '/v1/external-events%3Abatch', '?'],
    ['/v1/external-events%3abatch?x=%3A', '/v1/external-events%3abatch', '?x=%3A'],
    ['//v1//external-events', '//v1//external-events', '?'],
    ['http://example.com/v1/external-events?a=b', '/v1/external-events', '?a=b'],
    ['HTTPS://user@example.com:8443?a=b', '/', '?a=b'],
    ['http://example.com', '/', '?'],
    ['/v1/?http://example.com/other', '/v1/', '?http://example.com/other'],
    ['/http://example.com/other', '/http://example.com/other', '?'],
  ])('%s is signed as it was sent', (target, path, query) => {
    expect(signedTarget(target)).toEqual({ path, query });
  });
});

const digest = (algorithm: string): Buffer => createHash(algorithm).update('body').digest();
const sha256 = `sha-256=:${digest('sha256').toString('base64')}:`;
const sha512 = `sha-512=:${digest('sha512').toString('base64')}:`;
const md5 = `md5=:${digest('md5').toString('base64')}:`;
const sha1 = `sha=:${digest('sha1').toString('base64')}:`;
const DIGESTS = {
  sha256: { algorithm: 'sha256', value: digest('sha256') },
  sha512: { algorithm: 'sha512', value: digest('sha512') },
};

describe('Content-Digest', () => {
  it.each([
    ['sha-256', sha256, [DIGESTS.sha256]],
    ['sha-512', sha512, [DIGESTS.sha512]],
    ['both, of which both will be checked', `${sha512}, ${sha256}`, [DIGESTS.sha512, DIGESTS.sha256]],
    ['one beside those that we do not know', `${md5}, ${sha256}, ${sha1}, new=1, list=(1)`, [DIGESTS.sha256]],
    ['one with a parameter', `${sha256};q=1`, [DIGESTS.sha256]],
  ])('may have %s', (_what, header, digests) => {
    expect(readContentDigest(header)).toEqual(digests);
  });

  it.each([
    ['nothing', '', /must have one of sha-256, sha-512/],
    ['only md5', md5, /must have one of/],
    ['only sha', sha1, /must have one of/],
    ['a digest of another length', sha256.replace('sha-256', 'sha-512'), /sha-512 must be 64 bytes/],
    ['one good digest and one cut short', `${sha512}, sha-256=:YQ==:`, /sha-256 must be 32 bytes/],
    ['a text', 'sha-256="abc"', /sha-256 must be 32 bytes/],
    ['a flag', 'sha-256', /sha-256 must be 32 bytes/],
    ['a list', 'sha-256=(:YQ==:)', /sha-256 must be 32 bytes/],
    ['the form of the Digest header', 'sha-256=abc=', /not a dictionary/],
    ['one digest twice', `${sha256}, ${sha256}`, /not a dictionary/],
  ])('may not have %s', (_what, header, words) => {
    expect(() => readContentDigest(header)).toThrow(words);
  });

  it('may not be missing', () => {
    expect(() => readContentDigest(undefined)).toThrow('The header Content-Digest is missing');
  });
});

/** RFC 9421, appendix B.1.4 and B.1.5. */
const ED25519_PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`;
const SHARED_SECRET = Buffer.from(
  'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
  'base64',
);

describe('the signature base', () => {
  it('is that of RFC 9421, appendix B.2.6, whose Ed25519 signature it bears', () => {
    const params =
      '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
    const base = signatureBase(
      [
        ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
        ['@method', 'POST'],
        ['@path', '/foo'],
        ['@authority', 'example.com'],
        ['content-type', 'application/json'],
        ['content-length', '18'],
      ],
      params,
    );
    const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
    expect(verify(null, Buffer.from(base), createPublicKey(ED25519_PEM), Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is that of appendix B.2.5, whose HMAC it has', () => {
    const params = '("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"';
    const base = signatureBase(
      [
        ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
        ['@authority', 'example.com'],
        ['content-type', 'application/json'],
      ],
      params,
    );
    expect(createHmac('sha256', SHARED_SECRET).update(base).digest('base64')).toBe(
      'pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=',
    );
  });

  it('has a line for each component in the order of the signature, and ends in the parameters without a line break', () => {
    expect(
      signatureBase(
        [
          ['@query', '?'],
          ['@method', 'POST'],
        ],
        '("@query" "@method");created=1',
      ),
    ).toBe('"@query": ?\n"@method": POST\n"@signature-params": ("@query" "@method");created=1');
  });
});

const KEY_ID = '019b7c4e-0000-7000-8000-000000000001';
const SECRET = 'hVnq7eJx0cWmB4rYtZ2uKsLd9pQ3oFgA1iXbNvE8RwM';
const BODY = '{"source":"shop.orders"}';
const TARGET = '/v1/external-events?dry_run=true';

const pair = aKeyPair();
const KINDS: readonly [string, Signer, VerifyingKey][] = [
  ['Ed25519', ed25519Signer(KEY_ID, pair.privateKey), ed25519Key(pair.publicPem)],
  ['HMAC', hmacSigner(KEY_ID, SECRET), hmacKey(SECRET)],
];

interface Sent extends SignedMessage {
  readonly body: string;
}

function signed(signer: Signer, options?: Parameters<typeof signatureOf>[2]): Sent {
  const headers = signatureOf(signer, { target: TARGET, body: BODY }, options);
  return {
    method: 'POST',
    target: TARGET,
    body: BODY,
    signature: headers.signature,
    signatureInput: headers['signature-input'],
    contentDigest: headers['content-digest'],
  };
}

/** As the strategy and the reader of bodies decide it together, with the credential that KEY_ID names. */
function isTaken({ body, ...message }: Sent, key: VerifyingKey): boolean {
  try {
    const received = readSignature(message, new Date());
    if (received.keyId !== KEY_ID || received.algorithm !== key.algorithm || !isSignedWith(key, received)) return false;
    checkContentDigest({ expectedDigests: received.digests }, Buffer.from(body));
    return true;
  } catch (error) {
    expect(error).toMatchObject({ name: 'DomainError', code: 'invalid_signature' });
    return false;
  }
}

/** The text with the character at a place of our choice put in the place of another one. */
const oneOther = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat({ max: text.length - 1 }), fc.integer({ min: 0x20, max: 0x7e }))
    .map(([at, code]) => text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1))
    .filter((other) => other !== text);

const WHITE_SPACE = /[ \t]/g;

describe.each(KINDS)('a request signed by %s', (_kind, signer, key) => {
  it('is taken as it was signed', () => {
    expect(isTaken(signed(signer), key)).toBe(true);
  });

  it('is taken with components and parameters in any order, and with others beside the parameters that must be', () => {
    const created = Math.floor(Date.now() / 1_000);
    const needed = [`created=${created}`, `keyid="${KEY_ID}"`, `alg="${signer.algorithm}"`];
    const others = [`expires=${created + 60}`, 'nonce="a;b=\\"c\\""', 'tag="app"', 'flag', 'tok=a/b', 'bytes=:YQ==:'];
    for (let round = 0; round < 50; round += 1) {
      const parameters = shuffled([...needed, ...others.slice(0, round % 7)]).map((each) => `;${each}`);
      const options = { components: shuffled(COMPONENTS), parameters: parameters.join('') };
      expect([options, isTaken(signed(signer, options), key)]).toEqual([options, true]);
    }
  });

  it('is taken with any digest that we know, and held to each of them', () => {
    const good = [digestOf(BODY), digestOf(BODY, 'sha-512')];
    const bad = [digestOf('other'), digestOf('other', 'sha-512')];
    const taken = (...digests: unknown[]): boolean =>
      isTaken(signed(signer, { contentDigest: digests.join(', ') }), key);
    expect([taken(good[0]), taken(good[1]), taken(...good), taken(good[0], 'md5=:YQ==:')]).toEqual(Array(4).fill(true));
    expect([taken(bad[0]), taken(bad[1]), taken(good[0], bad[1]), taken(bad[0], good[1])]).toEqual(
      Array(4).fill(false),
    );
  });

  it('is refused with one character of anything that it says changed', () => {
    const whole = signed(signer);
    const parts = ['method', 'target', 'body', 'signatureInput', 'signature', 'contentDigest'] as const;
    const changed = fc
      .constantFrom(...parts)
      .chain((part) => oneOther(whole[part] ?? '').map((text) => ({ part, other: { ...whole, [part]: text } })));
    fc.assert(
      fc.property(changed, ({ part, other }) => {
        // White space between the parts of a dictionary means nothing, and which other label stands there neither.
        fc.pre(!part.startsWith('signature') || other[part]?.replace(WHITE_SPACE, '') !== whole[part]);
        expect([part, other[part], isTaken(other, key)]).toEqual([part, other[part], false]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused with one bit of the signature changed, cut short, or longer', () => {
    const whole = signed(signer);
    const bytes = Buffer.from(whole.signature?.split(':')[1] ?? '', 'base64');
    const taken = (signature: Uint8Array): boolean =>
      isTaken({ ...whole, signature: `sig1=:${Buffer.from(signature).toString('base64')}:` }, key);
    expect(taken(bytes)).toBe(true);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const other = Buffer.from(bytes);
      other[bit >> 3]! ^= 1 << (bit & 7);
      expect([bit, taken(other)]).toEqual([bit, false]);
    }
    expect([bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.of(0)]), Buffer.alloc(0)].map(taken)).toEqual([
      ...[false, false, false],
    ]);
  });

  it('is refused under the key of anybody else', () => {
    const whole = signed(signer);
    expect(isTaken(whole, ed25519Key(aKeyPair().publicPem))).toBe(false);
    expect(isTaken(whole, hmacKey(`${SECRET.slice(0, -1)}N`))).toBe(false);
  });
});

describe('a key', () => {
  it('is used with its own algorithm, whatever the request says', () => {
    // The classic: the public key, which everybody knows, as the secret of an HMAC.
    const forged = signed(hmacSigner(KEY_ID, pair.publicPem));
    const received = readSignature(forged, new Date());
    expect(isSignedWith(ed25519Key(pair.publicPem), received)).toBe(false);
    expect(
      isSignedWith(hmacKey(SECRET), readSignature(signed(ed25519Signer(KEY_ID, pair.privateKey)), new Date())),
    ).toBe(false);
  });

  it('of an HMAC is the bytes of the text, not what the text would be decoded to', () => {
    const decoded = Buffer.from(SECRET, 'base64url').toString('latin1');
    expect(isTaken(signed(hmacSigner(KEY_ID, decoded)), hmacKey(SECRET))).toBe(false);
  });
});

describe('a stored public key', () => {
  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
    ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['Ed448', generateKeyPairSync('ed448')],
  ])('verifies nothing when it is of another kind: %s', (_kind, { publicKey }) => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(() => ed25519Key(pem)).toThrow('of another kind');
  });
});
