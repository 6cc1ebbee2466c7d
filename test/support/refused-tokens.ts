import { createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import type { SharedApp } from './app';
import { aClient, type Client } from './client';
import { bearer, requestOf, type Attempt, type Column, type Columns } from './matrix';
import type { Operation } from './operations';
import { anEd25519Signer, signatureOf, type Signer } from './signatures';
import { aSigningKey, aTokenIssuer, base64url, nowSeconds, signToken, someClaims, type TokenIssuer } from './tokens';

/** Everything that may be held out to a route for participants. */
export interface ParticipantMeans {
  readonly admin: Client;
  readonly issuer: TokenIssuer;
  /** Of the same workspace, and signing with RSA. */
  readonly rsaIssuer: TokenIssuer;
  /** Of the same workspace, and signing with a secret. */
  readonly secretIssuer: TokenIssuer;
  /** Of another workspace. */
  readonly foreign: TokenIssuer;
  /** Let in before, by this very service; then its issuer was deleted. */
  readonly deletedIssuersToken: string;
  readonly signer: Signer;
}

export async function participantMeans(service: SharedApp): Promise<ParticipantMeans> {
  const admin = await aClient(service);
  const rsaIssuer = await aTokenIssuer(admin, { alg: 'RS256', fields: { algorithms: ['RS256'] } });
  return {
    admin,
    issuer: await aTokenIssuer(admin),
    rsaIssuer,
    secretIssuer: await aTokenIssuer(admin, { alg: 'HS256' }),
    foreign: await aTokenIssuer(await aClient(service)),
    deletedIssuersToken: await endedToken(service, admin),
    signer: await anEd25519Signer(admin),
  };
}

async function endedToken(service: SharedApp, admin: Client): Promise<string> {
  const issuer = await aTokenIssuer(admin, { fields: { defaultCampaignId: 'spring' } });
  const ended = issuer.token();
  const headers = { authorization: `Bearer ${ended}` };
  const before = await fetch(`${service.url}/v1/runtime/state`, { headers });
  const { status } = await admin.send(`/v1/jwt-issuers/${issuer.record.id}`, undefined, { method: 'DELETE' });
  expect([before.status, status]).toEqual([200, 200]);
  return ended;
}

const ATTACKER = aSigningKey();
const RSA_ATTACKER = aSigningKey('RS256');
const TOKEN_BYTES_MAX = 8 * 1024;

const token = (make: (means: ParticipantMeans) => string, words?: RegExp): Column<ParticipantMeans> => ({
  code: 'invalid_token',
  attempt: (means) => bearer(make(means)),
  ...(words === undefined ? {} : { words }),
});
const withClaims = (claims: object, words?: RegExp): Column<ParticipantMeans> =>
  token(({ issuer }) => issuer.token({ ...claims }), words);

/** The issuer's own claims, signed with the bytes of its public key as if they were a secret. */
const byPublicKey = (of: 'issuer' | 'rsaIssuer', bytesOf: (key: KeyObject) => string): Column<ParticipantMeans> =>
  token((means) => {
    const { key, ...issuer } = means[of];
    const secret = bytesOf(createPublicKey(key.key));
    return signToken({ alg: 'HS256', kid: key.kid, key: secret, jwk: {} }, someClaims(issuer));
  });
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();
const jwkOf = (key: KeyObject): string => JSON.stringify(key.export({ format: 'jwk' }));

function tampered(good: string): string {
  const [header, payload = '', signature] = good.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return [header, base64url(JSON.stringify({ ...claims, sub: 'somebody-else-altogether' })), signature].join('.');
}

function elsewhere(good: string, headers = {}): Attempt {
  const parameters = { access_token: good, token: good };
  return {
    headers: { ...headers, 'x-access-token': good, cookie: `access_token=${good}` },
    query: new URLSearchParams(parameters).toString(),
    body: JSON.stringify(parameters),
  };
}

/** A request that names a campaign wherever this operation lets it be named. */
function naming(campaign: string, { path, body, method }: Operation): Omit<Attempt, 'headers'> {
  if (path.includes('{campaign_id}')) return { body };
  if (method === 'GET') return { query: `campaign_id=${campaign}` };
  return { body: JSON.stringify({ ...(JSON.parse(body) as object), campaign_id: campaign }) };
}

const NO_JWT = /takes a JWT/;
const UNKNOWN = /No issuer is registered/;
const UNSIGNED = /signature of the token is not that of its issuer/;
const NO_KEY = /no key that the token can have been signed with/;
const ALGORITHM = /does not sign with the algorithm/;

/** Credentials that are refused where a participant's token is expected. */
export const REFUSED_TOKENS: Columns<ParticipantMeans> = {
  'no credential': { code: 'unauthenticated', attempt: () => ({ headers: {} }) },
  'an empty header': { code: 'unauthenticated', attempt: () => ({ headers: { authorization: '' } }) },
  'a good token without a scheme': {
    code: 'unauthenticated',
    attempt: ({ issuer }) => ({ headers: { authorization: issuer.token() } }),
  },
  'two tokens': {
    code: 'unauthenticated',
    attempt: ({ issuer }) => bearer(`${issuer.token()} ${issuer.token()}`),
  },
  'a good token only in query, body and other headers': {
    code: 'unauthenticated',
    attempt: ({ issuer }) => elsewhere(issuer.token()),
  },
  'a bad token beside good ones in query, body and other headers': {
    code: 'invalid_token',
    attempt: ({ issuer }) => elsewhere(issuer.token(), { authorization: 'Bearer nonsense' }),
  },
  'a bad token before a good one in a second header': {
    code: 'invalid_token',
    attempt: ({ issuer }) => ({ headers: { authorization: ['Bearer a.b.c', `Bearer ${issuer.token()}`] } }),
  },
  'a signed request': {
    code: 'unauthenticated',
    attempt: ({ signer }, operation) => ({ headers: signatureOf(signer, requestOf(operation)) }),
  },
  'a bad token beside a good signature': {
    code: 'invalid_token',
    attempt: ({ signer }, operation) => ({
      headers: { ...signatureOf(signer, requestOf(operation)), authorization: 'Bearer nonsense' },
    }),
  },
  garbage: token(() => '!"#$%&/()=?', NO_JWT),
  'three parts of garbage': token(() => `${'eyJ'.repeat(9)}.${'garbage'.repeat(4)}.${'garbage'.repeat(4)}`),
  'an API key with admin': token(({ admin }) => admin.key ?? '', /takes a JWT.*API key/),
  'an expired token': withClaims({ exp: nowSeconds() - 60 }, /expired/),
  'a token to come': withClaims({ nbf: nowSeconds() + 600 }, /not valid yet/),
  'a token without exp': withClaims({ exp: undefined }, /\bexp\b/),
  'a token without sub': withClaims({ sub: undefined }, /\bsub\b/),
  'a token with an empty sub': withClaims({ sub: '' }, /\bsub\b/),
  'a token without iss': withClaims({ iss: undefined }, /\biss\b/),
  'a token without aud': withClaims({ aud: undefined }, /\baud\b/),
  'another issuer': withClaims({ iss: 'https://attacker.example.com' }, UNKNOWN),
  'another audience': withClaims({ aud: 'the-audience-of-others' }, UNKNOWN),
  'alg none': token(({ issuer }) => {
    const [, payload = ''] = issuer.token().split('.');
    return `${base64url('{"alg":"none","typ":"JWT"}')}.${payload}.`;
  }, ALGORITHM),
  'alg none with a good signature': token(({ issuer }) => issuer.token({}, { alg: 'none' }), ALGORITHM),
  'no signature': token(({ issuer }) => issuer.token().replace(/[^.]*$/, '')),
  'HS256 by the PEM of the public EC key': byPublicKey('issuer', pemOf),
  'HS256 by the PEM of the public RSA key': byPublicKey('rsaIssuer', pemOf),
  'HS256 by the PEM of the public RSA key, trimmed': byPublicKey('rsaIssuer', (key) => pemOf(key).trim()),
  'HS256 by the JWK of the public EC key': byPublicKey('issuer', jwkOf),
  'HS256 by the JWK of the public RSA key': byPublicKey('rsaIssuer', jwkOf),
  'HS256 by another secret': token(({ secretIssuer: { key, ...issuer } }) =>
    signToken({ ...key, key: 'guess '.repeat(6) }, someClaims(issuer)),
  ),
  'HS256 by an empty secret': token(({ secretIssuer: { key, ...issuer } }) =>
    signToken({ ...key, key: '' }, someClaims(issuer)),
  ),
  'an algorithm that the key is fit for and the issuer does not take': token(
    ({ rsaIssuer: { key, ...issuer } }) => signToken({ ...key, alg: 'PS256' }, someClaims(issuer), { alg: 'PS256' }),
    ALGORITHM,
  ),
  'another algorithm than that of the key': token(({ rsaIssuer: { key, ...issuer } }) =>
    signToken({ ...ATTACKER, kid: key.kid }, someClaims(issuer)),
  ),
  "an attacker's key in the header": token(
    ({ issuer: { key, ...issuer } }) =>
      signToken({ ...ATTACKER, kid: key.kid }, someClaims(issuer), { jwk: { ...ATTACKER.jwk, kid: key.kid } }),
    UNSIGNED,
  ),
  "an attacker's RSA key in the header": token(
    ({ rsaIssuer }) => signToken(RSA_ATTACKER, someClaims(rsaIssuer), { jwk: RSA_ATTACKER.jwk, kid: undefined }),
    UNSIGNED,
  ),
  "an attacker's key under the issuer's key id": token(
    ({ issuer }) => signToken({ ...ATTACKER, kid: issuer.key.kid }, someClaims(issuer)),
    UNSIGNED,
  ),
  'an unknown key id': token(({ issuer }) => issuer.token({}, { kid: randomUUID() }), NO_KEY),
  "another issuer's key": token(({ issuer, rsaIssuer }) => signToken(rsaIssuer.key, someClaims(issuer)), NO_KEY),
  "another workspace's key": token(({ issuer, foreign }) => signToken(foreign.key, someClaims(issuer)), NO_KEY),
  "another workspace's key under the issuer's key id": token(
    ({ issuer, foreign }) => signToken({ ...foreign.key, kid: issuer.key.kid }, someClaims(issuer)),
    UNSIGNED,
  ),
  'a tampered payload': token(({ issuer }) => tampered(issuer.token()), UNSIGNED),
  'a token of a deleted issuer': token(({ deletedIssuersToken }) => deletedIssuersToken, UNKNOWN),
  'an unknown extension': token(({ issuer }) => issuer.token({}, { crit: ['exp'] }), /\bcrit\b/),
  'more than 8 KiB': withClaims({ more: 'x'.repeat(TOKEN_BYTES_MAX) }, /8192 bytes/),
  "a token of another campaign's": {
    code: 'context_violation',
    attempt: ({ issuer }, operation) => ({
      ...bearer(issuer.token({ campaign_id: 'the-campaign-of-the-token' })),
      ...naming('x', operation),
    }),
    bodyNeeded: true,
  },
  'a campaign that the issuer is not for': {
    code: 'context_violation',
    attempt: async ({ admin }, operation) => {
      const bounded = await aTokenIssuer(admin, { fields: { allowedCampaignIds: ['spring', 'summer'] } });
      return { ...bearer(bounded.token()), ...naming('x', operation) };
    },
    bodyNeeded: true,
  },
};
