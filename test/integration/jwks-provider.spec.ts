import { constants, verify, type KeyObject } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { KeySets, type PublishingIssuer } from '../../src/jwt-issuers/jwks/key-sets';
import { answerJson, startHttpStub, type HttpStub } from '../support/http-stub';
import { startOpenIdProvider, type OpenIdProvider } from '../support/openid-provider';
import { TestClock } from '../support/test-clock';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;

function verifies(token: string, key: KeyObject): boolean {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const { alg } = headerOf(token);
  const how = {
    RS256: {},
    PS256: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
    ES256: { dsaEncoding: 'ieee-p1363' as const },
  }[alg];
  return verify('sha256', Buffer.from(`${header}.${payload}`), { key, ...how }, Buffer.from(signature, 'base64url'));
}

function headerOf(token: string): { alg: 'RS256' | 'PS256' | 'ES256'; kid: string } {
  return JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());
}

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
}

describe('keys of a real OpenID provider', () => {
  let provider: OpenIdProvider;
  let issuer: PublishingIssuer;

  beforeAll(async () => {
    provider = await startOpenIdProvider();
    issuer = { tenantId: 'tenant', id: 'issuer', jwksUri: provider.jwksUri };
  });

  afterAll(() => provider.stop());

  function someKeySets(jwksAllowPrivate: 'true' | 'false' = 'true') {
    const clock = new TestClock();
    const keySets = new KeySets(clock, { jwksAllowPrivate, jwksDnsServers: [] });
    /** How many of the provider's keys verify the token. */
    const verifiers = async (token: string) =>
      (await keySets.keysFor(issuer, headerOf(token))).filter((key) => verifies(token, key)).length;
    return { clock, keySets, verifiers };
  }

  it.each(['RS256', 'PS256', 'ES256'] as const)('verify its tokens of %s, with or without a kid', async (alg) => {
    const { keySets, verifiers } = someKeySets();
    const token = await provider.token({ audience: 'campaigns', alg, claims: { sub: 'anna', campaign_id: 'spring' } });
    expect(headerOf(token)).toMatchObject({ alg, kid: expect.any(String) });
    expect(claimsOf(token)).toMatchObject({
      iss: provider.issuer,
      aud: 'campaigns',
      sub: 'anna',
      campaign_id: 'spring',
      exp: expect.any(Number),
    });
    expect(await verifiers(token)).toBe(1);
    const withoutKid = await keySets.keysFor(issuer, { alg });
    expect(withoutKid.map((key) => verifies(token, key))).toEqual([true]);
    expect(await keySets.keysFor(issuer, { alg: 'HS256' })).toEqual([]);
  });

  it('are taken into use at the first token of a new key, while tokens of the old one go on', async () => {
    const { clock, verifiers } = someKeySets();
    const old = await provider.token({ audience: 'campaigns' });
    expect(await verifiers(old)).toBe(1);
    await provider.rotateKeys({ publishOld: true });
    const fresh = await provider.token({ audience: 'campaigns' });
    // A kid that nobody knows causes a fetch in 10 s.
    expect(await verifiers(fresh)).toBe(0);
    clock.pass(10 * SECOND_MS);
    expect([await verifiers(fresh), await verifiers(old)]).toEqual([1, 1]);
  });

  it('are let go when the provider no longer publishes them', async () => {
    const { clock, verifiers } = someKeySets();
    const old = await provider.token({ audience: 'campaigns' });
    expect(await verifiers(old)).toBe(1);
    await provider.rotateKeys({ publishOld: false });
    const fresh = await provider.token({ audience: 'campaigns' });
    clock.pass(10 * SECOND_MS);
    expect([await verifiers(fresh), await verifiers(old)]).toEqual([1, 0]);
  });

  it('are not fetched from loopback unless JWKS_ALLOW_PRIVATE is set', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const { keySets } = someKeySets('false');
    await expect(keySets.keysFor(issuer, { alg: 'RS256' })).rejects.toMatchObject({
      code: 'unavailable',
      extras: { retryAfterSeconds: 10 },
    });
    expect(warned.mock.calls.join()).toMatch(
      /^The keys of JWT issuer issuer cannot be fetched. The URL.*must be an https URL/,
    );
    expect(warned.mock.calls.join()).not.toContain('127.0.0.1');
    warned.mockRestore();
  });
});

describe('key sets', () => {
  let stub: HttpStub;
  let warned: jest.SpyInstance;

  beforeEach(async () => {
    stub = await startHttpStub(answerJson({ keys: [] }));
    warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });

  afterEach(async () => {
    warned.mockRestore();
    await stub.stop();
  });

  it('keep issuers apart, and the addresses that one issuer has had', async () => {
    const keySets = new KeySets(new TestClock(), { jwksAllowPrivate: 'true', jwksDnsServers: [] });
    const jwksUri = `http://127.0.0.1:${stub.port}/`;
    const issuers = [
      { tenantId: 'a', id: '1', jwksUri },
      { tenantId: 'b', id: '1', jwksUri },
      { tenantId: 'a', id: '2', jwksUri },
      { tenantId: 'a', id: '1', jwksUri: `${jwksUri}new` },
    ];
    for (const issuer of [...issuers, ...issuers]) {
      await expect(keySets.keysFor(issuer, { alg: 'ES256' })).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(stub.requests).toHaveLength(issuers.length);
  });

  it('live through a day without the source: one request in 10 s at most, then 503', async () => {
    const provider = await startOpenIdProvider();
    const { keys } = (await (await fetch(provider.jwksUri)).json()) as { keys: unknown[] };
    const token = await provider.token({ audience: 'campaigns', alg: 'ES256' });
    await provider.stop();
    stub.answer(answerJson({ keys }));
    const clock = new TestClock();
    const keySets = new KeySets(clock, { jwksAllowPrivate: 'true', jwksDnsServers: [] });
    const issuer = { tenantId: 'a', id: '1', jwksUri: `http://localhost:${stub.port}/` };
    const keysFor = async (kid: string) => (await keySets.keysFor(issuer, { alg: 'ES256', kid })).length;
    const { kid } = headerOf(token);

    expect(await Promise.all(Array.from({ length: 500 }, () => keysFor(kid)))).toEqual(Array(500).fill(1));
    expect(stub.connections()).toBe(1);

    stub.answer((_request, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'));
    for (let hours = 1; hours <= 24; hours++) {
      clock.pass(HOUR_MS);
      // The unknown kid waits for the fetch, so that it is over before the clock moves on.
      expect(await Promise.all([keysFor(kid), keysFor('unknown'), keysFor(kid)])).toEqual([1, 0, 1]);
      expect(stub.connections()).toBe(1 + hours);
    }
    clock.pass(SECOND_MS);
    await expect(keysFor(kid)).rejects.toMatchObject({ code: 'unavailable', extras: { retryAfterSeconds: 9 } });
    expect(warned).toHaveBeenCalledTimes(1);
  });
});
