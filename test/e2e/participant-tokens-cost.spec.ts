import { startApp, type TestApp } from '../support/app';
import { aWorkspace, Client, expectProblem, type Answer } from '../support/client';
import { cpuMsSince } from '../support/cpu-time';
import { answerJson, startHttpStub, type HttpStub } from '../support/http-stub';
import { PROBE, ProbeController } from '../support/probe';
import { aSigningKey, aTokenIssuer, signToken, someClaims, type TokenIssuer } from '../support/tokens';

const RSA = aSigningKey('RS256').jwk;
const KEYS = 20;
/** Some milliseconds on a machine that is not busy; a key of the largest exponent alone took more than a hundred. */
const CPU_MS_MAX = 60;
const TOKENS = 10;

let service: TestApp;
let source: HttpStub;
let admin: Client;

beforeAll(async () => {
  source = await startHttpStub(answerJson({}));
  service = await startApp({ JWKS_ALLOW_PRIVATE: 'true' }, undefined, [ProbeController]);
  ({ admin } = await aWorkspace(service));
});

afterAll(async () => {
  await service.stop();
  await source.stop();
});

/** The costliest key that is allowed: its modulus and its exponent have as many bits as they may have. */
function costliest(at: number): object {
  const modulus = Buffer.alloc(1_024, 0xff).fill(at, 1, 2);
  return {
    kty: 'RSA',
    kid: `key ${at}`,
    n: modulus.toString('base64url'),
    e: Buffer.alloc(4, 0xff).toString('base64url'),
  };
}

const probe = (token: string): Promise<Answer> => new Client(service.url, token).get(PROBE);
const aSet = (jwk: (at: number) => object, count = KEYS): object => ({
  keys: Array.from({ length: count }, (_, at) => jwk(at)),
});

/** A token that nobody has signed, with a signature that is as long as that of the costliest key. */
function garbage(issuer: TokenIssuer, header: object, claims: object = {}): string {
  const [head, payload] = signToken(aSigningKey(), JSON.stringify({ ...someClaims(issuer), ...claims }), {
    alg: 'RS256',
    kid: undefined,
    ...header,
  }).split('.');
  return `${head}.${payload}.${Buffer.alloc(1_024, 0x7a).toString('base64url')}`;
}

describe('a garbage token', () => {
  it('is tried with so many keys only, and its refusal says what would help', async () => {
    const issuer = await aTokenIssuer(admin, { fields: { jwks: aSet(costliest) } });
    const answer = await probe(garbage(issuer, {}));
    expectProblem(answer, 401, 'invalid_token', []);
    expect(answer.body.message).toMatch(/^None of the 5 keys .* \(kid\)\.$/);
  });

  it('is tried with so many keys only when all of a published set have its key id', async () => {
    source.answer(answerJson(aSet(() => ({ ...RSA, kid: 'same' }), 100)));
    const jwksUri = `http://127.0.0.1:${source.port}/`;
    const issuer = await aTokenIssuer(admin, { fields: { jwks: null, jwksUri } });
    const answer = await probe(garbage(issuer, { kid: 'same' }));
    expect([answer.status, answer.body.message]).toEqual([401, expect.stringMatching(/^None of the 20 keys /)]);
  });

  it.each([
    ['without a key id, where each key is as costly as it may be', {}, {}],
    ['with the id of the costliest key', { kid: 'key 0' }, {}],
    ['with a key id that nobody knows', { kid: 'nobody' }, {}],
    ['with a header of thousands of characters', { kid: 'key 0', more: 'x'.repeat(3_000) }, {}],
    ['with a header that is nested a thousand times', { kid: 'key 0', deep: nested(1_000) }, {}],
    ['for sixteen audiences', {}, { aud: ['campaigns', ...Array.from({ length: 15 }, (_, at) => `a${at}`)] }],
  ])('costs little: %s', async (_what, header, claims) => {
    const issuer = await aTokenIssuer(admin, { fields: { jwks: aSet(costliest) } });
    await probe(garbage(issuer, header, claims));
    const started = process.cpuUsage();
    for (let at = 0; at < TOKENS; at += 1) expect((await probe(garbage(issuer, header, claims))).status).toBe(401);
    expect(cpuMsSince(started) / TOKENS).toBeLessThan(CPU_MS_MAX);
  });
});

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}
