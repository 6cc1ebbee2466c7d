import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, reviewEntries, type Workspace } from '../support/client';
import {
  anEd25519Signer,
  anHmacSigner,
  COMPONENTS,
  digestOf,
  hmacSigner,
  nowSeconds,
  sendRaw,
  signatureOf,
  type RawHeaders,
  type SignatureHeaders,
  type SignatureOptions,
  type Signer,
} from '../support/signatures';

const PATH = '/v1/external-events';
const [METHOD, PATH_COMPONENT, QUERY, DIGEST] = COMPONENTS;

/** Everything that a hostile client may know and have. */
interface Means {
  readonly ed25519: Signer;
  readonly hmac: Signer;
  /** A good credential of another workspace. */
  readonly foreign: Signer;
  readonly publicPem: string;
  readonly body: string;
  /** Signs the request of this test, by Ed25519 unless told otherwise. */
  readonly sign: (options?: SignatureOptions, signer?: Signer) => SignatureHeaders;
}

let service: SharedApp;
let workspace: Workspace;
let means: Means;

beforeAll(async () => {
  service = await sharedApp();
  workspace = await aWorkspace(service);
  const ed25519 = await anEd25519Signer(workspace.admin);
  const { publicKey } = (await workspace.admin.get(`/v1/service-credentials/${ed25519.keyId}`)).body;
  const body = JSON.stringify(anExternalEvent());
  means = {
    ed25519,
    body,
    publicPem: publicKey,
    hmac: await anHmacSigner(workspace.admin),
    foreign: await anEd25519Signer((await aWorkspace(service)).admin),
    sign: (options, signer = ed25519) => signatureOf(signer, { target: PATH, body }, options),
  };
});

type Attack = (means: Means) => RawHeaders;

const over =
  (...components: readonly string[]): Attack =>
  (all) =>
    all.sign({ components });
/** `%` stands for the rest that a signature needs. */
const withParameters =
  (parameters: string): Attack =>
  ({ sign, ed25519 }) =>
    sign({ parameters: parameters.replace('%', `;keyid="${ed25519.keyId}";alg="ed25519"`) });
const withDigest =
  (contentDigest: (body: string) => string): Attack =>
  ({ sign, body }) =>
    sign({ contentDigest: contentDigest(body) });
const without =
  (header: keyof SignatureHeaders): Attack =>
  ({ sign }) => ({ ...sign(), [header]: undefined });
const twice =
  (header: keyof SignatureHeaders): Attack =>
  ({ sign }) => ({ ...sign(), [header]: [sign()[header], sign()[header]] });
const sending =
  (header: keyof SignatureHeaders, value: string): Attack =>
  ({ sign }) => ({ ...sign(), [header]: value });

const ATTACKS: Readonly<Record<string, readonly [attack: Attack, words: RegExp]>> = {
  'no Signature': [without('signature'), /header Signature is missing/],
  'no Content-Digest': [without('content-digest'), /header Content-Digest is missing/],
  'Signature-Input twice': [twice('signature-input'), /Signature-Input is not a dictionary/],
  'Signature twice': [twice('signature'), /Signature is not a dictionary/],
  'Content-Digest twice': [twice('content-digest'), /Content-Digest is not a dictionary/],
  'a second Content-Digest that was not signed': [
    ({ sign, body }) => ({ ...sign(), 'content-digest': [digestOf(body), digestOf('x', 'sha-512')] }),
    /does not match/,
  ],
  'another label': [(all) => all.sign({ label: 'sig2' }), /no signature with the label sig1/],
  'another label in Signature': [
    ({ sign }) => ({ ...sign(), signature: sign().signature.replace('sig1', 'sig2') }),
    /Signature must have sig1/,
  ],
  'an empty Signature-Input': [sending('signature-input', ''), /no signature with the label sig1/],
  'an empty Signature': [sending('signature', ''), /Signature must have sig1/],
  'an empty Content-Digest': [sending('content-digest', ''), /must have one of sha-256, sha-512/],
  'Signature as text': [sending('signature', 'sig1="YQ=="'), /Signature must have sig1/],
  'Signature as list': [sending('signature', 'sig1=(:YQ==:)'), /Signature must have sig1/],
  'an empty signature': [sending('signature', 'sig1=::'), /does not match/],
  'a signature of one byte': [sending('signature', 'sig1=:YQ==:'), /does not match/],
  'a signature of 64 zeros': [sending('signature', `sig1=:${Buffer.alloc(64).toString('base64')}:`), /does not match/],
  'no component': [over(), /does not cover "@method", "@path", "@query", "content-digest"/],
  'no method': [over(PATH_COMPONENT, QUERY, DIGEST), /does not cover "@method"/],
  'no path': [over(METHOD, QUERY, DIGEST), /does not cover "@path"/],
  'no query': [over(METHOD, PATH_COMPONENT, DIGEST), /does not cover "@query"/],
  'no digest': [over(METHOD, PATH_COMPONENT, QUERY), /does not cover "content-digest"/],
  'one component more': [over(...COMPONENTS, '"@authority"'), /a component other than/],
  'a component twice': [over(...COMPONENTS, PATH_COMPONENT), /a component twice/],
  'a component of the request': [over(`${METHOD};req`, PATH_COMPONENT, QUERY, DIGEST), /"@method", which takes none/],
  'a re-serialised digest': [over(METHOD, PATH_COMPONENT, QUERY, `${DIGEST};sf`), /which takes none/],
  'components as tokens': [over('method', 'path', 'query', 'content-digest'), /a component other than/],
  'no parameters': [withParameters(''), /integer parameter created/],
  'no created': [withParameters('%'), /integer parameter created/],
  'created as text': [withParameters(`;created="${nowSeconds()}"%`), /integer parameter created/],
  'created with a fraction': [withParameters(`;created=${nowSeconds()}.5%`), /integer parameter created/],
  'created twice': [withParameters(`;created=${nowSeconds()};created=${nowSeconds()}%`), /not a dictionary/],
  'a negative created': [withParameters(`;created=-${nowSeconds()}%`), /more than 300 s before/],
  'created 0': [withParameters(';created=0%'), /more than 300 s before/],
  'created in milliseconds': [withParameters(`;created=${Date.now()}%`), /more than 300 s after/],
  'created 999999999999999': [withParameters(';created=999999999999999%'), /more than 300 s after/],
  'created 1000000000000000': [withParameters(';created=1000000000000000%'), /not a dictionary/],
  'created 1e15': [withParameters(';created=1e15%'), /not a dictionary/],
  'an old signature': [({ sign }) => sign({ age: 400 }), /more than 300 s before/],
  'a signature to come': [({ sign }) => sign({ age: -400 }), /more than 300 s after/],
  'an expired signature': [
    withParameters(`;created=${nowSeconds()};expires=${nowSeconds() - 1}%`),
    /signature has expired/,
  ],
  'expires as text': [withParameters(`;created=${nowSeconds()};expires="never"%`), /integer parameter expires/],
  'no keyid': [({ sign }) => sign({ parameters: `;created=${nowSeconds()};alg="ed25519"` }), /parameter keyid/],
  'no alg': [
    ({ sign, ed25519 }) => sign({ parameters: `;created=${nowSeconds()};keyid="${ed25519.keyId}"` }),
    /parameter alg/,
  ],
  'an unknown alg': [({ sign, ed25519 }) => sign({}, { ...ed25519, algorithm: 'none' }), /one of these as alg/],
  'an alg of another RFC': [({ sign, ed25519 }) => sign({}, { ...ed25519, algorithm: 'EdDSA' }), /one of these as alg/],
  'the alg of the other kind': [
    ({ sign, ed25519 }) => sign({}, { ...ed25519, algorithm: 'hmac-sha256' }),
    /not the algorithm of its service credential/,
  ],
  'an HMAC by the public key': [
    ({ sign, ed25519, publicPem }) => sign({}, hmacSigner(ed25519.keyId, publicPem)),
    /not the algorithm of its service credential/,
  ],
  'an HMAC by the public key that calls itself Ed25519': [
    ({ sign, ed25519, publicPem }) => sign({}, { ...hmacSigner(ed25519.keyId, publicPem), algorithm: 'ed25519' }),
    /does not match/,
  ],
  'an HMAC by another secret': [({ sign, hmac }) => sign({}, hmacSigner(hmac.keyId, 'secret')), /does not match/],
  'an HMAC by an empty secret': [({ sign, hmac }) => sign({}, hmacSigner(hmac.keyId, '')), /does not match/],
  'a key id that is no id': [
    ({ sign, ed25519 }) => sign({}, { ...ed25519, keyId: 'admin' }),
    /unknown service credential/,
  ],
  'an empty key id': [({ sign, ed25519 }) => sign({}, { ...ed25519, keyId: '' }), /unknown service credential/],
  'an unknown key id': [
    ({ sign, ed25519 }) => sign({}, { ...ed25519, keyId: randomUUID() }),
    /unknown service credential/,
  ],
  'SQL for a key id': [
    ({ sign, ed25519 }) => sign({}, { ...ed25519, keyId: "' OR 1=1 --" }),
    /unknown service credential/,
  ],
  "another workspace's key id": [
    ({ sign, ed25519, foreign }) => sign({}, { ...ed25519, keyId: foreign.keyId }),
    /does not match/,
  ],
  'a digest by sha-1 only': [
    withDigest(() => 'sha=:2jmj7l5rSw0yVb/vlWAYkK/YBwk=:'),
    /must have one of sha-256, sha-512/,
  ],
  'a digest by md5 only': [withDigest(() => 'md5=:1B2M2Y8AsgTpgAmY7PhCfg==:'), /must have one of sha-256, sha-512/],
  'a digest that is too short': [withDigest(() => 'sha-256=:YQ==:'), /sha-256 must be 32 bytes/],
  'a digest as text': [withDigest((body) => digestOf(body).replaceAll(':', '"')), /sha-256 must be 32 bytes/],
  'the digest of another body': [withDigest(() => digestOf('another body')), /does not have the Content-Digest/],
  '4 KB of nothing': [sending('signature-input', ' '.repeat(3_500)), /no signature with the label sig1/],
  '4 KB of commas': [sending('signature-input', ','.repeat(3_500)), /not a dictionary/],
  '4 KB of parentheses': [sending('signature-input', `sig1=${'('.repeat(3_500)}`), /not a dictionary/],
  '4 KB of components': [over(...Array<string>(300).fill(METHOD)), /does not cover/],
  '4 KB of parameters': [sending('signature-input', `sig1=()${';a'.repeat(1_700)}`), /not a dictionary/],
  '4 KB of signature': [sending('signature', `sig1=:${'YWFh'.repeat(880)}:`), /does not match/],
  '4 KB of key id': [
    ({ sign, ed25519 }) => sign({}, { ...ed25519, keyId: 'x'.repeat(3_500) }),
    /unknown service credential/,
  ],
  '4 KB of digest': [withDigest(() => `sha-256=:${'YWFh'.repeat(880)}:`), /sha-256 must be 32 bytes/],
  '10 KB of components': [over(...Array<string>(900).fill(METHOD)), /signature-input is longer than 4096/i],
  '10 KB of signature': [sending('signature', `sig1=:${'YWFh'.repeat(2_560)}:`), /signature is longer than 4096/i],
  '10 KB of digest': [withDigest(() => `sha-256=:${'YWFh'.repeat(2_560)}:`), /content-digest is longer than 4096/i],
  'a name of the language': [
    sending('signature-input', '__proto__=(), constructor=1'),
    /not a dictionary|no signature/,
  ],
  'letters of other alphabets': [sending('signature-input', 'sig1=("\u00e9\u00ff")'), /not a dictionary/],
};

describe('a hostile signature', () => {
  it.each(Object.entries(ATTACKS))(
    'is refused with words that repeat nothing of it: %s',
    async (_name, [attack, words]) => {
      const headers = attack(means);
      const answer = await sendRaw(service.url, { target: PATH, body: means.body }, headers);
      expectProblem(answer, 401, 'invalid_signature');
      expect(answer.body.message).toMatch(words);
      expect(answer.headers.get('www-authenticate')).toBe(
        'Bearer realm="campaign-data-service", error="invalid_token"',
      );
      const text = JSON.stringify(answer.body);
      const sent = Object.values(headers).flat().join(' ');
      const told = sent.match(/[\w+/-]{16,}/g)?.filter((part) => text.includes(part)) ?? [];
      // Names of ours, which the words explain.
      expect(told.filter((part) => !['content-digest'].includes(part))).toEqual([]);
    },
  );

  it('has left nothing behind, and the same request signed well is accepted', async () => {
    expect(await reviewEntries(workspace.admin)).toEqual([]);
    const { status } = await sendRaw(service.url, { target: PATH, body: means.body }, means.sign());
    expect(status).toBe(202);
  });

  it('is looked at when the signature stands in several lines and among others, as RFC 9110 lets it', async () => {
    const body = JSON.stringify(anExternalEvent());
    const { signature, 'signature-input': input, ...digest } = signatureOf(means.hmac, { target: PATH, body });
    const headers = {
      ...digest,
      signature: ['proxy=:YQ==:', signature],
      'signature-input': [input, 'proxy=("@authority");created=1;keyid="proxy"'],
    };
    expect((await sendRaw(service.url, { target: PATH, body }, headers)).status).toBe(202);
  });
});

describe('a signature of something else', () => {
  it.each([
    ['another method', { method: 'PUT' }],
    ['another path', { target: '/v1/cdp/events' }],
    ['the batch path', { target: '/v1/external-events:batch' }],
    ['a query', { target: `${PATH}?dry_run=true` }],
    ['another body', { body: '{}' }],
  ])('is refused: %s', async (_name, other) => {
    const message = { target: PATH, body: JSON.stringify(anExternalEvent()) };
    for (const signer of [means.ed25519, means.hmac]) {
      const answer = await sendRaw(service.url, message, signatureOf(signer, { ...message, ...other }));
      expectProblem(answer, 401, 'invalid_signature');
    }
  });
});
