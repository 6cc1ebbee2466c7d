import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, Client, expectProblem, type Answer, type Workspace } from '../support/client';
import { PROBE, ProbeController } from '../support/probe';
import {
  aSigningKey,
  aTokenIssuer,
  base64url,
  nowSeconds,
  signToken,
  someClaims,
  type SigningAlgorithm,
  type TokenIssuer,
} from '../support/tokens';

const CHALLENGE = 'Bearer realm="campaign-data-service", error="invalid_token"';
const TOKEN_BYTES_MAX = 8 * 1024;
const ATTACKER = aSigningKey();
const RSA_ATTACKER = aSigningKey('RS256');

let service: TestApp;
let workspace: Workspace;
/** One for each algorithm; no test changes them. */
let issuers: Readonly<Record<SigningAlgorithm, TokenIssuer>>;
/** A server that tokens point to, where nobody must ever knock. */
let lure: Server;
let knocks = 0;

beforeAll(async () => {
  service = await startApp({ JWKS_ALLOW_PRIVATE: 'true' }, undefined, [ProbeController]);
  workspace = await aWorkspace(service);
  const [RS256, PS256, ES256, HS256] = await Promise.all(
    (['RS256', 'PS256', 'ES256', 'HS256'] as const).map((alg) =>
      aTokenIssuer(workspace.admin, { alg, fields: { algorithms: [alg] } }),
    ),
  );
  issuers = { RS256: RS256!, PS256: PS256!, ES256: ES256!, HS256: HS256! };
  lure = createServer((_request, response) => response.end('{"keys":[]}')).on('connection', () => (knocks += 1));
  lure.listen(0, '127.0.0.1');
  await once(lure, 'listening');
});

afterAll(async () => {
  await service.stop();
  lure.close();
});

const lureUrl = (): string => `http://127.0.0.1:${(lure.address() as AddressInfo).port}/jwks`;
const probe = (token: string): Promise<Answer> => new Client(service.url, token).get(PROBE);
/** A good token's claims with others, or without those that are undefined. */
const claims = (others: object): string => JSON.stringify({ ...someClaims(issuers.ES256), ...others });
const signed = (others: object, header: object = {}): string =>
  signToken(issuers.ES256.key, claims(others), header as Record<string, unknown>);
/** Claims as raw text, for what JSON.stringify does not write. */
const withRaw = (name: string, json: string): string =>
  signToken(issuers.ES256.key, claims({ [name]: '@' }).replace('"@"', json));

/** Refused as RFC 6750 wants it, without a word of the token in the answer. */
function expectRefused(answer: Answer, token: string, words: RegExp): void {
  expectProblem(answer, 401, 'invalid_token', []);
  expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
  expect(answer.body.message).toMatch(words);
  const pieces = token.split('.').flatMap((part) => [part, Buffer.from(part, 'base64url').toString()]);
  const values = pieces.flatMap((piece) => [piece, ...piece.matchAll(/"([^"]{9,})"/g)].flat());
  const told = JSON.stringify(answer.body);
  expect(values.filter((value) => value.length > 8 && told.includes(value))).toEqual([]);
}

/** What is wrong with a token, how it is made, and what the refusal says. */
type Row = readonly [string, () => string, RegExp];

const CLAIM_ROWS: readonly Row[] = [
  ['no iss', () => signed({ iss: undefined }), /\biss\b/],
  ['another iss', () => signed({ iss: 'https://attacker.example.com' }), /No issuer is registered/],
  ['an iss with a slash more', () => signed({ iss: `${issuers.ES256.issuer}/` }), /No issuer is registered/],
  ['an iss that is a list', () => signed({ iss: [issuers.ES256.issuer] }), /\biss\b/],
  ['an iss with U+0000', () => signed({ iss: `${issuers.ES256.issuer}\u0000` }), /No issuer is registered/],
  ['an iss with half a character', () => signed({ iss: '\ud800' }), /No issuer is registered/],
  ['an empty iss', () => signed({ iss: '' }), /No issuer is registered/],
  ['an iss of 5,000 characters', () => signed({ iss: 'x'.repeat(5_000) }), /No issuer is registered/],
  ['an iss that is SQL', () => signed({ iss: "' OR '1'='1" }), /No issuer is registered/],
  ['no aud', () => signed({ aud: undefined }), /\baud\b/],
  ['another aud', () => signed({ aud: 'attackers' }), /No issuer is registered/],
  ['another aud in capitals', () => signed({ aud: 'CAMPAIGNS' }), /No issuer is registered/],
  ['no aud in its list', () => signed({ aud: [] }), /\baud\b/],
  ['others in its list of aud', () => signed({ aud: ['a', 'b'] }), /No issuer is registered/],
  ['an aud that is no text', () => signed({ aud: ['campaigns', null] }), /\baud\b/],
  ['17 aud', () => signed({ aud: ['campaigns', ...Array.from({ length: 16 }, (_, at) => `a${at}`)] }), /\baud\b/],
  ['no sub', () => signed({ sub: undefined }), /\bsub\b/],
  ['an empty sub', () => signed({ sub: '' }), /\bsub\b/],
  ['a sub that is a number', () => signed({ sub: 4711 }), /\bsub\b/],
  ['a sub that is null', () => signed({ sub: null }), /\bsub\b/],
  ['a sub of 300 characters', () => signed({ sub: 'x'.repeat(300) }), /256 characters/],
  ['a sub with U+0000', () => signed({ sub: 'customer\u00001' }), /U\+0000/],
  ['a sub with half a character', () => withRaw('sub', '"customer\\ud800"'), /lone surrogate/],
  ['a sid with U+0000', () => signed({ sid: 'session\u00001' }), /U\+0000/],
  ['a campaign that is no name', () => signed({ campaign_id: '../others' }), /campaign/],
  ['a campaign that is a list', () => signed({ campaign_id: ['spring'] }), /campaign/],
  ['an app that is a number', () => signed({ app_id: 7 }), /\bapp\b/],
];

const TIME_ROWS: readonly Row[] = [
  ['no exp', () => signed({ exp: undefined }), /\bexp\b/],
  ['an exp that is text', () => signed({ exp: String(nowSeconds() + 60) }), /\bexp\b/],
  ['an exp that is not a number', () => withRaw('exp', 'null'), /\bexp\b/],
  ['an exp beyond all numbers', () => withRaw('exp', '1e999'), /\bexp\b/],
  ['an exp in a list', () => signed({ exp: [nowSeconds() + 60] }), /\bexp\b/],
  ['an exp that is true', () => signed({ exp: true }), /\bexp\b/],
  ['an exp that is over', () => signed({ exp: nowSeconds() - 6 }), /expired/],
  ['an exp before all time', () => withRaw('exp', '-1e308'), /expired/],
  ['an exp in milliseconds before 1970', () => signed({ exp: -1 }), /expired/],
  ['an nbf to come', () => signed({ nbf: nowSeconds() + 60 }), /not valid yet/],
  ['an nbf that is text', () => signed({ nbf: String(nowSeconds() - 60) }), /\bnbf\b/],
];

/** A token whose header says one thing, signed however it likes. */
function forged(issuer: TokenIssuer, header: object, signature: (text: string) => Buffer | string): string {
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(someClaims(issuer)))}`;
  const bytes = signature(text);
  return `${text}.${typeof bytes === 'string' ? bytes : bytes.toString('base64url')}`;
}

const hmac = (secret: string | Buffer) => (text: string) => createHmac('sha256', secret).update(text).digest();
const publicKeyOf = ({ key }: TokenIssuer): KeyObject =>
  createPublicKey({ key: key.jwk as Record<string, string>, format: 'jwk' });
const spki = (format: 'pem' | 'der') => publicKeyOf(issuers.RS256).export({ type: 'spki', format } as any) as string;
const confused = (secret: () => string | Buffer) => () =>
  forged(issuers.RS256, { alg: 'HS256', kid: issuers.RS256.key.kid, typ: 'JWT' }, hmac(secret()));

const SIGNATURE_ROWS: readonly Row[] = [
  ...['none', 'None', 'nOnE', 'NONE', ''].map((alg): Row => [
    `the algorithm "${alg}" and no signature`,
    () => forged(issuers.RS256, { alg }, () => ''),
    /algorithm/,
  ]),
  ['the algorithm none and a good signature', () => issuers.RS256.token({}, { alg: 'none' }), /algorithm/],
  ['no signature', () => forged(issuers.RS256, { alg: 'RS256' }, () => ''), /signature/],
  ['no signature for HS256', () => forged(issuers.HS256, { alg: 'HS256' }, () => ''), /signature/],
  ['HS256 with the public key in PEM', confused(() => spki('pem')), /algorithm/],
  ['HS256 with the public key in PEM, trimmed', confused(() => spki('pem').trim()), /algorithm/],
  ['HS256 with the public key in DER', confused(() => spki('der')), /algorithm/],
  ['HS256 with the public key as a JWK', confused(() => JSON.stringify(issuers.RS256.key.jwk)), /algorithm/],
  ['HS256 with the modulus', confused(() => Buffer.from(String(issuers.RS256.key.jwk['n']), 'base64url')), /algorithm/],
  ['HS256 with no secret', () => forged(issuers.HS256, { alg: 'HS256' }, hmac('')), /signature/],
  ['HS256 with another secret', () => forged(issuers.HS256, { alg: 'HS256' }, hmac('x'.repeat(40))), /signature/],
  ['RS256 where a secret is shared', () => forged(issuers.HS256, { alg: 'RS256' }, hmac('x')), /algorithm/],
  [
    'PS256 where RS256 is agreed',
    () => signToken({ ...issuers.RS256.key, alg: 'PS256' }, someClaims(issuers.RS256)),
    /algorithm/,
  ],
  [
    'RS256 where PS256 is agreed',
    () => signToken({ ...issuers.PS256.key, alg: 'RS256' }, someClaims(issuers.PS256)),
    /algorithm/,
  ],
  [
    'RS256 under the name of PS256',
    () => signToken({ ...issuers.PS256.key, alg: 'RS256' }, someClaims(issuers.PS256), { alg: 'PS256' }),
    /signature/,
  ],
  ...['RS384', 'ES384', 'EdDSA', 'ES256K', 'HS512', 'rs256', 'RSA-OAEP'].map((alg): Row => [
    `the algorithm ${alg}`,
    () => issuers.RS256.token({}, { alg }),
    /algorithm/,
  ]),
  [
    'ES256 with a key of P-384',
    () => forged(issuers.ES256, { alg: 'ES256', kid: issuers.ES256.key.kid }, onOtherCurve),
    /signature/,
  ],
  ['ES256 in DER', () => forged(issuers.ES256, { alg: 'ES256' }, inDer), /signature/],
  ['ES256 of zeros', () => forged(issuers.ES256, { alg: 'ES256' }, () => Buffer.alloc(64)), /signature/],
  ['ES256 of 1 byte', () => forged(issuers.ES256, { alg: 'ES256' }, () => Buffer.alloc(1)), /signature/],
  ['RS256 of zeros', () => forged(issuers.RS256, { alg: 'RS256' }, () => Buffer.alloc(256)), /signature/],
  [
    "an attacker's signature",
    () => signToken(ATTACKER, someClaims(issuers.ES256), { kid: issuers.ES256.key.kid }),
    /signature/,
  ],
  [
    "an attacker's signature without a key id",
    () => signToken(ATTACKER, someClaims(issuers.ES256), { kid: undefined }),
    /signature/,
  ],
  ["an attacker's key in its header", () => embedded({ jwk: RSA_ATTACKER.jwk }), /signature/],
  [
    "an attacker's key in its header, and no key id",
    () => embedded({ jwk: RSA_ATTACKER.jwk, kid: undefined }),
    /signature/,
  ],
  ["an attacker's certificate in its header", () => embedded({ x5c: [base64url('certificate')] }), /signature/],
  [
    "the address of an attacker's keys",
    () => embedded({ jku: lureUrl(), x5u: lureUrl(), kid: RSA_ATTACKER.kid }),
    /no key/,
  ],
  [
    "the address of an attacker's keys, and a good key id",
    () => embedded({ jku: lureUrl(), x5u: lureUrl() }),
    /signature/,
  ],
];

function onOtherCurve(text: string): Buffer {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
}

const inDer = (text: string): Buffer => sign('sha256', Buffer.from(text), issuers.ES256.key.key);

const embedded = (header: object): string =>
  signToken(RSA_ATTACKER, someClaims(issuers.RS256), { kid: issuers.RS256.key.kid, ...header });

const HEADER_ROWS: readonly Row[] = [
  ...[
    '../../../../dev/null',
    "x' UNION SELECT 'key' --",
    '__proto__',
    'constructor',
    '',
    '\u0000',
    '🎉',
    'k'.repeat(5_000),
  ].map((kid): Row => [`the key id ${JSON.stringify(kid.slice(0, 30))}`, () => signed({}, { kid }), /no key/]),
  ['a key id that is a number', () => signed({}, { kid: 1 }), /kid/],
  ['a key id that is an object', () => signed({}, { kid: { toString: 'x' } }), /kid/],
  ['a demand that it must understand', () => signed({}, { crit: ['exp'], exp: 1 }), /crit/],
  ['a demand not to encode the payload', () => signed({}, { crit: ['b64'], b64: false }), /crit/],
  ['an empty list of demands', () => signed({}, { crit: [] }), /crit/],
  ['a compressed payload', () => signed({}, { zip: 'DEF', crit: ['zip'] }), /crit/],
];

const parts = (): [string, string, string] => issuers.ES256.token().split('.') as [string, string, string];
/** One character of a part becomes another. */
const tampered = (part: 0 | 1 | 2, at: number) => (): string => {
  const all = parts();
  const text = all[part];
  const place = at < 0 ? text.length + at : at;
  all[part] = `${text.slice(0, place)}${text[place] === 'A' ? 'B' : 'A'}${text.slice(place + 1)}`;
  return all.join('.');
};
const NO_JWT = /\bJWT\b/;

const BYTE_ROWS: readonly Row[] = [
  ['a payload that was changed', () => tampered(1, 30)(), /./],
  ['the payload of another token', () => [parts()[0], parts()[1], parts()[2]].join('.'), /signature/],
  ['the header of another token', () => [base64url('{"alg":"ES256"}'), ...parts().slice(1)].join('.'), /signature/],
  ['a signature whose first character was changed', tampered(2, 0), /signature/],
  ['a signature whose last character was changed', tampered(2, -1), /signature|base64url/],
  ['a signature cut short', () => issuers.ES256.token().slice(0, -2), /signature/],
  ['a signature with more behind it', () => `${issuers.ES256.token()}AAAA`, /signature/],
  ['padding', () => `${issuers.ES256.token()}==`, NO_JWT],
  ['padding in its header', () => parts().with(0, `${parts()[0]}=`).join('.'), NO_JWT],
  [
    'the other base64 alphabet',
    () =>
      parts()
        .with(2, `${parts()[2].slice(0, -2)}+/`)
        .join('.'),
    NO_JWT,
  ],
  ['one part', () => 'garbage', NO_JWT],
  ['two parts', () => parts().slice(0, 2).join('.'), NO_JWT],
  ['four parts', () => `${issuers.ES256.token()}.AAAA`, NO_JWT],
  ['five parts, like an encrypted one', () => [...parts(), 'AAAA', 'AAAA'].join('.'), NO_JWT],
  ['two dots', () => '..', NO_JWT],
  ['two dots after a header', () => `${base64url('{"alg":"none"}')}..`, NO_JWT],
  ['a header that is no JSON', () => `eyJ.${parts()[1]}.AAAA`, NO_JWT],
  ['a payload that is no JSON', () => `${parts()[0]}.AAAA.AAAA`, NO_JWT],
  ['a payload that is a list', () => signToken(issuers.ES256.key, '[]'), NO_JWT],
  ['a payload that is null', () => signToken(issuers.ES256.key, 'null'), NO_JWT],
  ['more than 8 KiB', () => signed({ more: 'x'.repeat(TOKEN_BYTES_MAX) }), /8192 bytes/],
];

describe.each([
  ['claims', CLAIM_ROWS],
  ['times', TIME_ROWS],
  ['signature', SIGNATURE_ROWS],
  ['header', HEADER_ROWS],
  ['bytes', BYTE_ROWS],
] as const)('a token with hostile %s is refused:', (_what, rows) => {
  it.each(rows)('%s', async (_name, make, words) => {
    const token = make();
    expectRefused(await probe(token), token, words);
  });
});

describe('hostile tokens', () => {
  it('make the service knock nowhere', async () => {
    for (const jwk of [undefined, RSA_ATTACKER.jwk]) {
      await probe(embedded({ jku: lureUrl(), x5u: lureUrl(), jwk, kid: 'unknown' }));
      await probe(signed({ iss: lureUrl(), jwks_uri: lureUrl(), aud: 'campaigns' }, { jku: lureUrl() }));
    }
    await fetch(lureUrl());
    expect(knocks).toBe(1);
  });

  it('are told from API keys, which the refusal says belong elsewhere', async () => {
    const { key } = workspace.admin;
    const answer = await probe(key ?? '');
    expectRefused(answer, key ?? '', /JWT.*API key/);
  });

  it('do not count as good because a good one comes after them in a second header', async () => {
    const [bad, good] = [ATTACKER, issuers.ES256.key].map(
      (key) => `Bearer ${signToken(key, someClaims(issuers.ES256))}`,
    );
    const { hostname, port } = new URL(service.url);
    const outgoing = request({ hostname, port, path: PROBE });
    outgoing.setHeader('Authorization', [bad!, good!]);
    const [incoming] = await once(outgoing.end(), 'response');
    incoming.resume();
    expect(incoming.statusCode).toBe(401);
  });

  it('are still refused when they come again, and leave good ones alone', async () => {
    const token = signToken(ATTACKER, someClaims(issuers.ES256), { kid: issuers.ES256.key.kid });
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await probe(token)).status));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await issuers.ES256.participant().get(PROBE)).status).toBe(200);
  });

  it('may have up to 8 KiB when they are good after all', async () => {
    const start = signed({ more: '' }).length;
    const token = signed({ more: 'x'.repeat(Math.floor(((TOKEN_BYTES_MAX - start - 4) * 3) / 4)) });
    expect(token.length).toBeGreaterThan(TOKEN_BYTES_MAX - 16);
    expect((await probe(token)).status).toBe(200);
  });
});
