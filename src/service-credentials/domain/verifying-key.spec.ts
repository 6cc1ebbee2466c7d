import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
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
import { checkContentDigest, expectContentDigest } from '../../platform/http/body/content-digest';
import { readSignature, type SignedMessage } from './received-signature';
import { ed25519Key, hmacKey, isSignedWith, type VerifyingKey } from './verifying-key';

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
    ...{ method: 'POST', target: TARGET, body: BODY, signature: headers.signature },
    ...{ signatureInput: headers['signature-input'], contentDigest: headers['content-digest'] },
  };
}

/** As the strategy and the reader of bodies decide it together, with the credential that KEY_ID names. */
function isTaken({ body, ...message }: Sent, key: VerifyingKey): boolean {
  try {
    const received = readSignature(message, new Date());
    if (received.keyId !== KEY_ID || received.algorithm !== key.algorithm || !isSignedWith(key, received)) return false;
    const request = {} as Parameters<typeof expectContentDigest>[0];
    expectContentDigest(request, received.digests);
    checkContentDigest(request, Buffer.from(body));
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
