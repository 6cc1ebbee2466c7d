import { randomUUID } from 'node:crypto';
import type { SharedApp } from './app';
import { aClient, type Client } from './client';
import { requestOf, WRONG_BODY, type Attempt, type Columns } from './matrix';
import type { Operation } from './operations';
import {
  aKeyPair,
  anEd25519Signer,
  anHmacSigner,
  digestOf,
  ed25519Signer,
  hmacSigner,
  sendSigned,
  signatureOf,
  type SignatureHeaders,
  type SignatureOptions,
  type SignedRequest,
  type Signer,
} from './signatures';
import { aTokenIssuer, type TokenIssuer } from './tokens';

/** Everything that may be held out to a route that takes signed requests. */
export interface SignatureMeans {
  readonly admin: Client;
  readonly ed25519: Signer;
  readonly publicPem: string;
  readonly hmac: Signer;
  /** Let in before, by this very service, and then revoked. */
  readonly revoked: readonly Signer[];
  /** A good one of another workspace. */
  readonly foreign: Signer;
  readonly issuer: TokenIssuer;
}

export async function signatureMeans(service: SharedApp): Promise<SignatureMeans> {
  const admin = await aClient(service);
  const ed25519 = await anEd25519Signer(admin);
  const { publicKey } = (await admin.get(`/v1/service-credentials/${ed25519.keyId}`)).body;
  return {
    admin,
    ed25519,
    publicPem: publicKey,
    hmac: await anHmacSigner(admin),
    revoked: [await endedSigner(admin, anEd25519Signer), await endedSigner(admin, anHmacSigner)],
    foreign: await anEd25519Signer(await aClient(service)),
    issuer: await aTokenIssuer(admin),
  };
}

async function endedSigner(admin: Client, make: (client: Client) => Promise<Signer>): Promise<Signer> {
  const signer = await make(admin);
  const before = await sendSigned(admin.url, signer, { target: '/v1/external-events', body: WRONG_BODY });
  const { status } = await admin.post(`/v1/service-credentials/${signer.keyId}:revoke`, {});
  expect([before.status, status]).toEqual([422, 200]);
  return signer;
}

/** How a good signature is made, and of what. */
interface Change {
  readonly signer?: (means: SignatureMeans) => Signer;
  /** What is signed instead of the request that is sent. */
  readonly signed?: (request: SignedRequest) => SignedRequest;
  readonly options?: SignatureOptions;
  readonly headers?: (headers: SignatureHeaders) => Attempt['headers'];
}

/** An attempt that is good but for one thing. */
function changed({ signer = ({ ed25519 }) => ed25519, signed = (request) => request, options, headers }: Change) {
  return (means: SignatureMeans, operation: Operation): Attempt => {
    const made = signatureOf(signer(means), signed(requestOf(operation)), options);
    return { headers: headers === undefined ? made : headers(made) };
  };
}

const refused = (change: Change, words?: RegExp): Columns<SignatureMeans>[string] => ({
  code: 'invalid_signature',
  attempt: changed(change),
  ...(words === undefined ? {} : { words }),
});

/** Another letter in the middle of the base64 of the signature. */
function tampered({ signature, ...others }: SignatureHeaders): Attempt['headers'] {
  const at = signature.indexOf(':') + 20;
  const letter = signature[at] === 'A' ? 'B' : 'A';
  return { ...others, signature: `${signature.slice(0, at)}${letter}${signature.slice(at + 1)}` };
}

const UNMATCHED = /does not match this request/;
const UNKNOWN = /unknown service credential/;

/** Signatures that are refused, also where signed requests are accepted. */
export const REFUSED_SIGNATURES: Columns<SignatureMeans> = {
  'an unknown key id': refused({ signer: ({ ed25519 }) => ({ ...ed25519, keyId: randomUUID() }) }, UNKNOWN),
  'a key id that is no id': refused({ signer: ({ ed25519 }) => ({ ...ed25519, keyId: 'admin' }) }, UNKNOWN),
  'the id of an API key as key id': {
    code: 'invalid_signature',
    attempt: async (means, operation) => {
      const { body } = await means.admin.get('/v1/api-keys');
      return changed({ signer: ({ ed25519 }) => ({ ...ed25519, keyId: body.items[0].id }) })(means, operation);
    },
    words: UNKNOWN,
  },
  "an attacker's key": refused(
    { signer: ({ ed25519 }) => ed25519Signer(ed25519.keyId, aKeyPair().privateKey) },
    UNMATCHED,
  ),
  "an attacker's secret": refused({ signer: ({ hmac }) => hmacSigner(hmac.keyId, 'guess'.repeat(8)) }, UNMATCHED),
  "another workspace's key id": refused(
    { signer: ({ ed25519, foreign }) => ({ ...ed25519, keyId: foreign.keyId }) },
    UNMATCHED,
  ),
  "another workspace's key": refused(
    { signer: ({ ed25519, foreign }) => ({ ...foreign, keyId: ed25519.keyId }) },
    UNMATCHED,
  ),
  'a revoked Ed25519 credential': refused({ signer: ({ revoked }) => revoked[0]! }, /was revoked/),
  'a revoked HMAC credential': refused({ signer: ({ revoked }) => revoked[1]! }, /was revoked/),
  'an HMAC by the public key': refused(
    { signer: ({ ed25519, publicPem }) => hmacSigner(ed25519.keyId, publicPem) },
    /not the algorithm of its service credential/,
  ),
  'an HMAC by the public key that calls itself Ed25519': refused(
    { signer: ({ ed25519, publicPem }) => ({ ...hmacSigner(ed25519.keyId, publicPem), algorithm: 'ed25519' }) },
    UNMATCHED,
  ),
  'alg none': refused({ signer: ({ ed25519 }) => ({ ...ed25519, algorithm: 'none' }) }, /one of these as alg/),
  'a tampered Ed25519 signature': refused({ headers: tampered }, UNMATCHED),
  'a tampered HMAC signature': refused({ signer: ({ hmac }) => hmac, headers: tampered }, UNMATCHED),
  'an empty signature': refused({ headers: (made) => ({ ...made, signature: 'sig1=::' }) }, UNMATCHED),
  'no Signature': refused({ headers: (made) => ({ ...made, signature: undefined }) }, /Signature is missing/),
  'no Content-Digest': refused({ headers: (made) => ({ ...made, 'content-digest': undefined }) }, /Digest is missing/),
  'another Content-Digest than was signed': refused(
    { headers: (made) => ({ ...made, 'content-digest': digestOf('another body') }) },
    UNMATCHED,
  ),
  'a signature that covers no digest': refused(
    { options: { components: ['"@method"', '"@path"', '"@query"'] } },
    /does not cover "content-digest"/,
  ),
  'a signature of another method': refused({ signed: (request) => ({ ...request, method: 'PUT' }) }, UNMATCHED),
  'a signature of another path': refused(
    { signed: (request) => ({ ...request, target: `${request.target}s` }) },
    UNMATCHED,
  ),
  'a signature of another query': refused(
    { signed: (request) => ({ ...request, target: `${request.target}?dry_run=true` }) },
    UNMATCHED,
  ),
  'a signature made 302 s ago': refused({ options: { age: 302 } }, /more than 300 s before/),
  'a signature of the future': refused({ options: { age: -302 } }, /more than 300 s after/),
  // Only the complete body shows that it differs from the signed one.
  'an Ed25519 signature of another body': {
    ...refused(
      { signed: (request) => ({ ...request, body: `${String(request.body)} ` }) },
      /does not have the Content-Digest/,
    ),
    bodyNeeded: true,
  },
  'an HMAC signature of another body': {
    ...refused(
      { signer: ({ hmac }) => hmac, signed: (request) => ({ ...request, body: '{}' }) },
      /does not have the Content-Digest/,
    ),
    bodyNeeded: true,
  },
  'the token of a participant beside a good signature': {
    code: 'invalid_api_key',
    attempt: (means, operation) => ({
      headers: { ...changed({})(means, operation).headers, authorization: `Bearer ${means.issuer.token()}` },
    }),
  },
};
