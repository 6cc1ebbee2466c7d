import { setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, Client, expectProblem, type Answer, type Workspace } from '../support/client';
import { startFaultProxy } from '../support/fault-proxy';
import { PROBE, ProbeController } from '../support/probe';
import { aSigningKey, aTokenIssuer, nowSeconds, signToken, someClaims, type TokenIssuer } from '../support/tokens';

const CHALLENGE = 'Bearer realm="campaign-data-service", error="invalid_token"';
/** Contract section 2: what changes on one node is in force on every other one. */
const EVERYWHERE_MS_MAX = 1_000;

let service: TestApp;
let otherNode: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp({}, undefined, [ProbeController]);
  otherNode = await startApp({}, undefined, [ProbeController]);
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
});

afterAll(() => Promise.all([service.stop(), otherNode.stop()]));

const probe = (token: string, { url }: TestApp = service): Promise<Answer> => new Client(url, token).get(PROBE);
const statusOf = async (token: string, node: TestApp = service): Promise<number> => (await probe(token, node)).status;
const remove = ({ record }: TokenIssuer): Promise<Answer> =>
  admin.send(`/v1/jwt-issuers/${record.id}`, undefined, { method: 'DELETE' });

function expectRefused(answer: Answer, words: RegExp): void {
  expectProblem(answer, 401, 'invalid_token', []);
  expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
  expect(answer.body.message).toMatch(words);
}

describe('a good token', () => {
  it('tells whom it speaks for', async () => {
    const issuer = await aTokenIssuer(admin, {
      fields: { defaultCampaignId: 'summer', allowedCampaignIds: ['spring', 'summer'], clockToleranceSeconds: 7 },
    });
    const exp = nowSeconds() + 60;
    const token = issuer.token({ sub: 'jane', exp, sid: 'session', campaign_id: 'winter', app_id: 'shop' });
    const { status, body } = await probe(token);
    expect([status, body]).toEqual([
      200,
      {
        tenantId: workspace.tenantId,
        credentialId: issuer.record.id,
        expiresAt: (exp + 7) * 1_000,
        subject: 'jane',
        sessionId: 'session',
        campaignId: 'winter',
        appId: 'shop',
        defaultCampaignId: 'summer',
        allowedCampaignIds: ['spring', 'summer'],
      },
    ]);
    expect((await probe(token)).body).toEqual(body);
  });

  it('may say no more than it has to', async () => {
    const issuer = await aTokenIssuer(admin);
    expect((await issuer.participant().get(PROBE)).body).toMatchObject({
      sessionId: null,
      campaignId: null,
      appId: null,
      defaultCampaignId: null,
      allowedCampaignIds: null,
    });
  });

  it('names campaign and app in the claims that the issuer said', async () => {
    const claims = { campaign: 'https://example.com/campaign', app: 'azp' };
    const issuer = await aTokenIssuer(admin, { fields: { claims } });
    const token = issuer.token({
      'https://example.com/campaign': 'spring',
      azp: 'shop',
      campaign_id: '!',
      app_id: '!',
    });
    expect((await probe(token)).body).toMatchObject({ campaignId: 'spring', appId: 'shop' });
  });

  it.each(['RS256', 'PS256', 'ES256', 'HS256'] as const)('may be signed with %s', async (alg) => {
    const issuer = await aTokenIssuer(admin, { alg });
    expect(await statusOf(issuer.token())).toBe(200);
    expect(await statusOf(issuer.token({}, { typ: undefined, kid: undefined }))).toBe(200);
  });

  it('may have several audiences, one of which is registered', async () => {
    const issuer = await aTokenIssuer(admin);
    const others = Array.from({ length: 15 }, (_, at) => `https://api${at}.example.com`);
    expect(await statusOf(issuer.token({ aud: [issuer.audience] }))).toBe(200);
    expect(await statusOf(issuer.token({ aud: [...others, issuer.audience] }))).toBe(200);
  });

  it('may have headers that say where other keys are, or anything else that is not a demand', async () => {
    const issuer = await aTokenIssuer(admin);
    expect(await statusOf(issuer.token({}, { typ: 'at+jwt', cty: 'JWT', jku: 'x', x5u: 'x', x5t: 'x' }))).toBe(200);
  });

  it('is taken by whatever spelling of Bearer, and from the Authorization header alone', async () => {
    const issuer = await aTokenIssuer(admin);
    const nobody = new Client(service.url, undefined);
    for (const scheme of ['bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${issuer.token()}` };
      expect((await nobody.send(PROBE, undefined, { method: 'GET', headers })).status).toBe(200);
    }
    const answers = [
      await nobody.get(`${PROBE}?access_token=${issuer.token()}&auth_token=${issuer.token()}`),
      await nobody.send(PROBE, undefined, { method: 'GET', headers: { cookie: `jwt=${issuer.token()}` } }),
      await nobody.send(PROBE, undefined, { method: 'GET', headers: { authorization: `JWT ${issuer.token()}` } }),
    ];
    for (const answer of answers) expectProblem(answer, 401, 'unauthenticated', []);
  });
});

describe('the keys of an issuer', () => {
  it('are tried one after the other for a token that names none', async () => {
    const [first, second, stranger] = [aSigningKey(), aSigningKey(), aSigningKey()];
    const issuer = await aTokenIssuer(admin, { fields: { jwks: { keys: [first.jwk, second.jwk] } } });
    const signed = (key: typeof first, kid: string | undefined) => signToken(key, someClaims(issuer), { kid });
    expect(await statusOf(signed(first, undefined))).toBe(200);
    expect(await statusOf(signed(second, undefined))).toBe(200);
    expectRefused(await probe(signed(stranger, undefined)), /signature/);
    expectRefused(await probe(signed(second, first.kid)), /signature/);
    expectRefused(await probe(signed(stranger, first.kid)), /signature/);
    expectRefused(await probe(signed(second, 'unknown')), /no key/);
  });

  it('sign with the algorithm that they are for', async () => {
    const key = aSigningKey('RS256');
    const { alg: _alg, ...anyRsa } = key.jwk;
    const bound = await aTokenIssuer(admin, { fields: { jwks: { keys: [key.jwk] } } });
    const free = await aTokenIssuer(admin, { fields: { jwks: { keys: [anyRsa] } } });
    const signed = (issuer: TokenIssuer, alg: 'RS256' | 'PS256') => signToken({ ...key, alg }, someClaims(issuer));
    expect(await statusOf(signed(bound, 'RS256'))).toBe(200);
    expectRefused(await probe(signed(bound, 'PS256')), /no key/);
    expect(await statusOf(signed(free, 'RS256'))).toBe(200);
    expect(await statusOf(signed(free, 'PS256'))).toBe(200);
  });
});

describe('the times of a token', () => {
  it('may be off by the tolerance of the issuer', async () => {
    for (const clockToleranceSeconds of [0, 60]) {
      const issuer = await aTokenIssuer(admin, { fields: { clockToleranceSeconds } });
      const at = (seconds: number) => nowSeconds() + seconds;
      expectRefused(await probe(issuer.token({ exp: at(-clockToleranceSeconds - 1) })), /expired/);
      expect(await statusOf(issuer.token({ exp: at(5 - clockToleranceSeconds) }))).toBe(200);
      expectRefused(await probe(issuer.token({ nbf: at(clockToleranceSeconds + 5) })), /not valid yet/);
      expect(await statusOf(issuer.token({ nbf: at(clockToleranceSeconds) }))).toBe(200);
    }
  });

  it.each(['4102444800', '253402300800000', '1e308'])('may lie as far ahead as exp %s', async (exp) => {
    const issuer = await aTokenIssuer(admin);
    const claims = JSON.stringify({ ...someClaims(issuer), exp: 0 }).replace('"exp":0', `"exp":${exp}`);
    expect((await probe(signToken(issuer.key, claims))).body).toMatchObject({ expiresAt: expect.any(Number) });
  });

  it('end also while the token is remembered', async () => {
    const issuer = await aTokenIssuer(admin, { fields: { clockToleranceSeconds: 0 } });
    const exp = nowSeconds() + 2;
    const token = issuer.token({ exp });
    expect(await statusOf(token)).toBe(200);
    while ((await statusOf(token)) === 200) {
      expect(Date.now()).toBeLessThan((exp + 1) * 1_000);
      await wait(20);
    }
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1_000);
    expectRefused(await probe(token), /expired/);
  });
});

describe('an issuer', () => {
  it('is in force at once on the node that registers it, and within a second elsewhere, also when its tokens were refused before', async () => {
    const key = aSigningKey();
    const names = { issuer: `https://${workspace.tenantId}.example.com`, audience: 'campaigns' };
    const token = signToken(key, someClaims(names));
    for (const node of [service, otherNode]) expectRefused(await probe(token, node), /No issuer is registered/);
    await aTokenIssuer(admin, { fields: { ...names, jwks: { keys: [key.jwk] } } });
    const registeredAtMs = performance.now();
    expect(await statusOf(token)).toBe(200);
    for (let askedMs = 0; (await statusOf(token, otherNode)) !== 200; askedMs = performance.now() - registeredAtMs) {
      expect(askedMs).toBeLessThan(EVERYWHERE_MS_MAX);
      await wait(20);
    }
  });

  it('that is deleted is refused at once by the node that deleted it, and by others within a second', async () => {
    const issuer = await aTokenIssuer(admin);
    const known = issuer.token();
    for (const node of [service, otherNode]) expect(await statusOf(known, node)).toBe(200);
    expect((await remove(issuer)).status).toBe(200);
    const deletedAtMs = performance.now();
    for (const token of [known, issuer.token()]) expectRefused(await probe(token), /No issuer is registered/);
    while ((await statusOf(known, otherNode)) === 200) {
      expect(performance.now() - deletedAtMs).toBeLessThan(EVERYWHERE_MS_MAX);
      await wait(20);
    }
    expectRefused(await probe(issuer.token(), otherNode), /No issuer is registered/);
  });

  it('that is registered anew by another workspace speaks for that one from now on', async () => {
    const issuer = await aTokenIssuer(admin);
    const token = issuer.token();
    expect((await probe(token)).body.tenantId).toBe(workspace.tenantId);
    await remove(issuer);
    const other = await aWorkspace(service);
    const names = { issuer: issuer.issuer, audience: issuer.audience };
    await aTokenIssuer(other.admin, { fields: { ...names, jwks: { keys: [issuer.key.jwk] } } });
    expect((await probe(token)).body.tenantId).toBe(other.tenantId);
  });

  it('has keys that count for nobody else', async () => {
    const issuer = await aTokenIssuer(admin);
    const victim = await aTokenIssuer((await aWorkspace(service)).admin);
    const claims = { iss: victim.issuer, aud: victim.audience };
    expectRefused(await probe(issuer.token(claims)), /no key/);
    expectRefused(await probe(issuer.token(claims, { kid: undefined })), /signature/);
    expectRefused(await probe(issuer.token(claims, { kid: victim.key.kid })), /signature/);
  });

  it('is refused when the audiences of a token name another one as well, of whatever workspace', async () => {
    const issuer = await aTokenIssuer(admin);
    const token = issuer.token({ aud: ['others', issuer.audience] });
    expect(await statusOf(token)).toBe(200);
    const other = await aWorkspace(service);
    const fields = { issuer: issuer.issuer, audience: 'others', jwks: { keys: [issuer.key.jwk] } };
    await aTokenIssuer(other.admin, { fields });
    expectRefused(await probe(issuer.token({ aud: ['others', issuer.audience] })), /several/);
    expect((await probe(issuer.token({ aud: 'others' }))).body.tenantId).toBe(other.tenantId);
    expect((await probe(issuer.token())).body.tenantId).toBe(workspace.tenantId);
  });
});

describe('what is no fault of the token', () => {
  it('is answered 503: a database that is away', async () => {
    const url = service.databaseUrl;
    const proxy = await startFaultProxy(url);
    const database = new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
    const node = await startApp({}, proxy.urlOf(database), [ProbeController]);
    proxy.setAway(true);
    try {
      const issuer = await aTokenIssuer(admin);
      expectProblem(await probe(issuer.token(), node), 503, 'unavailable', []);
    } finally {
      proxy.setAway(false);
      await node.stop();
      await proxy.close();
    }
  });

  it('is answered 503: an issuer whose keys cannot be fetched', async () => {
    const open = await startApp({ JWKS_ALLOW_PRIVATE: 'true' }, undefined, [ProbeController]);
    try {
      const client = (await aWorkspace(open)).admin;
      const issuer = await aTokenIssuer(client, { fields: { jwks: null, jwksUri: 'http://127.0.0.1:9/jwks' } });
      const answer = await issuer.participant().get(PROBE);
      expectProblem(answer, 503, 'unavailable', []);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('www-authenticate')).toBeNull();
    } finally {
      await open.stop();
    }
  });

  it('is answered 503: a secret that was sealed under another SECRETS_KEY', async () => {
    const issuer = await aTokenIssuer(admin, { alg: 'HS256' });
    for (const SECRETS_KEY of ['another-secrets-key-of-40-characters-aaa', '']) {
      const changed = await startApp({ SECRETS_KEY }, undefined, [ProbeController]);
      try {
        const answer = await probe(issuer.token(), changed);
        expectProblem(answer, 503, 'unavailable', []);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      } finally {
        await changed.stop();
      }
    }
    expect(await statusOf(issuer.token())).toBe(200);
  });

  it('is logged once for a request, and names the issuer', async () => {
    const issuer = await aTokenIssuer(admin, { alg: 'HS256' });
    const changed = await startApp({ SECRETS_KEY: 'another-secrets-key-of-40-characters-aaa' }, undefined, [
      ProbeController,
    ]);
    const logged: string[] = [];
    const spies = (['error', 'warn'] as const).map((level) =>
      jest.spyOn(Logger.prototype, level).mockImplementation((...[line]: unknown[]) => void logged.push(String(line))),
    );
    try {
      expect(await statusOf(issuer.token(), changed)).toBe(503);
      expect(logged).toEqual([expect.stringContaining(issuer.record.id)]);
    } finally {
      for (const spy of spies) spy.mockRestore();
      await changed.stop();
    }
  });
});

describe('a changed issuer', () => {
  const change = async ({ record }: TokenIssuer, keys: readonly object[]): Promise<void> => {
    const body = JSON.stringify({ jwks: { keys } });
    expect((await admin.send(`/v1/jwt-issuers/${record.id}`, body, { method: 'PUT' })).status).toBe(200);
  };

  it('refuses no token of a key that stays, and takes those of a new key, on every node within a second', async () => {
    const issuer = await aTokenIssuer(admin);
    const added = aSigningKey();
    const stays = issuer.token();
    const isNew = signToken(added, someClaims(issuer.record));
    const nodes = [service, otherNode];
    for (const node of nodes) expect([await statusOf(stays, node), await statusOf(isNew, node)]).toEqual([200, 401]);
    let isChanging = true;
    const seen = nodes.map(async (node) => {
      const statuses = new Set<number>();
      while (isChanging) statuses.add(await statusOf(stays, node));
      return [...statuses];
    });
    for (let count = 0; count < 5; count++) {
      await change(issuer, [issuer.key.jwk]);
      await change(issuer, [issuer.key.jwk, added.jwk]);
      expect(await statusOf(isNew)).toBe(200);
    }
    await wait(EVERYWHERE_MS_MAX);
    isChanging = false;
    expect(await Promise.all(seen)).toEqual([[200], [200]]);
    for (const node of nodes) expect([await statusOf(stays, node), await statusOf(isNew, node)]).toEqual([200, 200]);
    await change(issuer, [added.jwk]);
    expect([await statusOf(stays), await statusOf(isNew)]).toEqual([401, 200]);
    await wait(EVERYWHERE_MS_MAX);
    expect([await statusOf(stays, otherNode), await statusOf(isNew, otherNode)]).toEqual([401, 200]);
  });

  it.each<[string, (id: string) => string]>([
    ['', (id) => id],
    [', also by its id in upper case', (id) => id.toUpperCase()],
  ])('keeps its secret, and takes a new one%s', async (_, idAsSent) => {
    const issuer = await aTokenIssuer(admin, { alg: 'HS256' });
    const path = `/v1/jwt-issuers/${idAsSent(issuer.record.id)}`;
    const put = (body: object) => admin.send(path, JSON.stringify(body), { method: 'PUT' });
    expect((await put({ clockToleranceSeconds: 60 })).status).toBe(200);
    expect(await statusOf(issuer.token({ exp: nowSeconds() - 30 }))).toBe(200);
    const other = aSigningKey('HS256');
    expect((await put({ secret: other.key })).status).toBe(200);
    const claims = someClaims(issuer.record);
    expect([await statusOf(issuer.token()), await statusOf(signToken(other, claims))]).toEqual([401, 200]);
  });
});
