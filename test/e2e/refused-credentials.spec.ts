import { randomBytes, randomUUID } from 'node:crypto';
import { ApiKeyRepository, apiKeyHash } from '../../src/api-keys/api-key.repository';
import { makeApiKey } from '../../src/api-keys/domain/api-key-token';
import { JwtIssuerRepository } from '../../src/jwt-issuers/jwt-issuer.repository';
import { TokenKeys } from '../../src/jwt-issuers/token-keys';
import { DomainError } from '../../src/platform/errors/domain-error';
import { SignatureStrategy } from '../../src/service-credentials/signature.strategy';
import { ServiceCredentialRepository } from '../../src/service-credentials/service-credential.repository';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client, expectProblem, type Answer, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { aKeyPair, anEd25519Signer, ed25519Signer, sendRaw, signatureOf } from '../support/signatures';
import { aSigningKey, aTokenIssuer, signToken, someClaims } from '../support/tokens';

const REQUESTS = 1_000;
/** Of the kinds beside unknown keys. */
const FEWER_REQUESTS = 200;
const AT_A_TIME = 4;
/** So long a refusal is repeated without asking. */
const REFUSED_MS = 900;
/** Contract section 2: by then every node takes a new credential. */
const TAKEN_MS_MAX = 1_000;
const PER_MINUTE = 100;

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp({ AUTH_FAILURES_PER_MINUTE: String(PER_MINUTE), TRUST_PROXY: '1' });
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
});

afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

let addresses = 0;
/** Nobody has failed from there. */
const anAddress = (): string => {
  addresses += 1;
  return `203.0.113.${addresses}`;
};

const call = (key: string, address: string, { url } = service): Promise<Answer> =>
  new Client(url, key).send('/v1/events?limit=1', undefined, {
    method: 'GET',
    headers: { 'x-forwarded-for': address },
  });

const readState = (token: string, address: string): Promise<Answer> =>
  new Client(service.url, token).send('/v1/runtime/state', undefined, {
    method: 'GET',
    headers: { 'x-forwarded-for': address },
  });

/** Sends a few at a time, and holds what is counted to one look for each time that a refusal is remembered. */
async function expectRefusedCheaply(counted: jest.SpyInstance, send: () => Promise<Answer>, count = FEWER_REQUESTS) {
  const startedAt = performance.now();
  const statuses = new Set<number>();
  for (let sent = 0; sent < count; sent += AT_A_TIME) {
    for (const { status } of await Promise.all(Array.from({ length: AT_A_TIME }, send))) statuses.add(status);
  }
  const times = 1 + (performance.now() - startedAt) / REFUSED_MS;
  expect(statuses).toEqual(new Set([401, 429]));
  expect(counted.mock.calls.length).toBeLessThanOrEqual(AT_A_TIME * times);
}

describe('a credential that was refused a moment ago', () => {
  it.each(['unknown', 'revoked', 'expired'])('costs no look-up when it is an API key that is %s', async (kind) => {
    const past = new Date(Date.now() - 60_000);
    const options = { revoked: { revokedAt: past }, expired: { expiresAt: past } }[kind];
    const key = options === undefined ? makeApiKey(randomBytes) : (await workspace.client(options)).key!;
    const address = anAddress();
    const lookUps = jest.spyOn(service.app.get(ApiKeyRepository), 'findByHash');
    await expectRefusedCheaply(lookUps, () => call(key, address), kind === 'unknown' ? REQUESTS : FEWER_REQUESTS);
  });

  it('costs nothing when it was good before', async () => {
    const { admin } = workspace;
    const { body } = await admin.post('/v1/api-keys', { name: 'to end', scopes: ['events:read'] });
    const address = anAddress();
    expect((await call(body.key, address)).status).toBe(200);
    await admin.post(`/v1/api-keys/${body.apiKey.id}:revoke`, {});
    const lookUps = jest.spyOn(service.app.get(ApiKeyRepository), 'findByHash');
    await expectRefusedCheaply(lookUps, () => call(body.key, address));
  });

  it('costs no verification when it is a token with a bad signature', async () => {
    const { issuer, audience } = await aTokenIssuer(workspace.admin);
    const [forged, address] = [signToken(aSigningKey(), someClaims({ issuer, audience })), anAddress()];
    const verifications = jest.spyOn(service.app.get(TokenKeys), 'keyFor');
    await expectRefusedCheaply(verifications, () => readState(forged, address));
  });

  it('costs no look-up when it is one of many tokens of an issuer that is not known', async () => {
    const [key, names] = [aSigningKey(), { issuer: `https://${randomUUID()}.example.com`, audience: 'campaigns' }];
    const lookUps = jest.spyOn(service.app.get(JwtIssuerRepository), 'findFirst');
    const address = anAddress();
    await expectRefusedCheaply(lookUps, () => readState(signToken(key, someClaims(names)), address));
  });

  it('costs no verification when it is a signature that is sent again', async () => {
    const { keyId } = await anEd25519Signer(workspace.admin);
    const request = { target: '/v1/external-events', body: JSON.stringify(anExternalEvent()) };
    const forged = signatureOf(ed25519Signer(keyId, aKeyPair().privateKey), request);
    const verifications = jest.spyOn(service.app.get(SignatureStrategy), 'validate');
    const headers = { ...forged, 'x-forwarded-for': anAddress() };
    await expectRefusedCheaply(verifications, () => sendRaw(service.url, request, headers));
  });

  it('costs no look-up when it is one of many signatures of a service credential that is not known', async () => {
    const request = { target: '/v1/external-events', body: JSON.stringify(anExternalEvent()) };
    const signer = ed25519Signer(randomUUID(), aKeyPair().privateKey);
    const lookUps = jest.spyOn(service.app.get(ServiceCredentialRepository), 'findByKeyId');
    const address = anAddress();
    let age = 0;
    const send = (): Promise<Answer> => {
      age = (age + 1) % 200;
      return sendRaw(service.url, request, { ...signatureOf(signer, request, { age }), 'x-forwarded-for': address });
    };
    await expectRefusedCheaply(lookUps, send);
  });

  it('is refused with the same words, and another signature of the same signer is not', async () => {
    const address = anAddress();
    const [first, second] = [await call('guess', address), await call('guess', address)];
    expectProblem(second, 401, 'invalid_api_key', []);
    expect(second.headers.get('www-authenticate')).toBe(first.headers.get('www-authenticate'));
    expect({ ...second.body, request_id: '' }).toEqual({ ...first.body, request_id: '' });

    const signer = await anEd25519Signer(workspace.admin);
    const request = { target: '/v1/external-events', body: JSON.stringify(anExternalEvent()) };
    const good = signatureOf(signer, request);
    const bad = {
      ...good,
      signature: signatureOf(ed25519Signer(signer.keyId, aKeyPair().privateKey), request).signature,
    };
    expect((await sendRaw(service.url, request, bad)).status).toBe(401);
    expect((await sendRaw(service.url, request, good)).status).toBe(202);
  });

  it('was not refused when its source was away', async () => {
    const { admin } = workspace;
    const away = new DomainError('unavailable', 'It is away.');
    jest.spyOn(service.app.get(ApiKeyRepository), 'findByHash').mockRejectedValueOnce(away);
    expect((await call(admin.key!, anAddress())).status).toBe(503);
    expect((await call(admin.key!, anAddress())).status).toBe(200);
    const issuer = await aTokenIssuer(admin);
    jest.spyOn(service.app.get(TokenKeys), 'keyFor').mockRejectedValueOnce(away);
    const token = new Client(service.url, issuer.token({ campaign_id: 'spring' }));
    expect((await token.get('/v1/runtime/state')).status).toBe(503);
    expect((await token.get('/v1/runtime/state')).status).toBe(200);
  });
});

describe('a credential that becomes good', () => {
  /** As a start with BOOTSTRAP_ADMIN_KEY does: the key is known before it is stored. */
  const store = (key: string): Promise<void> =>
    withClient(service.databaseUrl, async (database) => {
      await database.query(`UPDATE api_keys SET key_hash = $1 WHERE tenant_id = $2`, [
        apiKeyHash(key),
        workspace.tenantId,
      ]);
    });

  it('is taken within a second, although it was refused until then', async () => {
    const key = `an-operators-key-${randomUUID()}`;
    const address = anAddress();
    expect((await call(key, address)).status).toBe(401);
    await store(key);
    const storedAt = performance.now();
    let lastRefusedMs = 0;
    for (;;) {
      const sentMs = performance.now() - storedAt;
      if ((await call(key, address)).status === 200) break;
      lastRefusedMs = sentMs;
    }
    expect(lastRefusedMs).toBeLessThanOrEqual(TAKEN_MS_MAX);
  });

  it('is taken at once by the node that registers the issuer of a token', async () => {
    const key = aSigningKey();
    const names = { issuer: `https://${randomUUID()}.example.com`, audience: 'campaigns' };
    const token = new Client(service.url, signToken(key, { ...someClaims(names), campaign_id: 'spring' }));
    expect((await token.get('/v1/runtime/state')).status).toBe(401);
    expect((await workspace.admin.post('/v1/jwt-issuers', { ...names, jwks: { keys: [key.jwk] } })).status).toBe(201);
    expect((await token.get('/v1/runtime/state')).status).toBe(200);
  });
});

describe('an address beyond AUTH_FAILURES_PER_MINUTE', () => {
  /** Units come back once a minute: no slow machine gets one meanwhile. */
  let strict: TestApp;

  beforeAll(async () => {
    strict = await startApp({ AUTH_FAILURES_PER_MINUTE: '1', TRUST_PROXY: '1' });
  });
  afterAll(() => strict.stop());

  async function anAddressBeyond(): Promise<string> {
    const address = anAddress();
    expect((await call('guess', address, strict)).status).toBe(401);
    return address;
  }

  it('has few look-ups under way at a time, all others wait, and good credentials go on', async () => {
    const address = await anAddressBeyond();
    const keys = strict.app.get(ApiKeyRepository);
    const findByHash = keys.findByHash.bind(keys);
    let [running, most] = [0, 0];
    jest.spyOn(keys, 'findByHash').mockImplementation(async (...asked) => {
      running += 1;
      most = Math.max(most, running);
      return findByHash(...asked).finally(() => (running -= 1));
    });
    const guesses = Array.from({ length: 100 }, (_unused, n) => call(`another-${n}`, address, strict));
    const good = call(workspace.admin.key!, address, strict);
    const elsewhere = call(`guess-${randomUUID()}`, anAddress(), strict);
    expect([(await good).status, (await elsewhere).status]).toEqual([200, 401]);
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([429]));
    // Two of this address, and the one from elsewhere.
    expect(most).toBeLessThanOrEqual(3);
  });

  it('is told to come again when too many of its credentials wait', async () => {
    const address = await anAddressBeyond();
    const { release, keys } = heldBack();
    const guesses = Array.from({ length: 400 }, (_unused, n) => call(`further-${n}`, address, strict));
    await Promise.any(guesses);
    release();
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([429, 503]));
    expect(keys.mock.calls.length).toBeLessThan(400);
  });

  function heldBack() {
    const keys = strict.app.get(ApiKeyRepository);
    const findByHash = keys.findByHash.bind(keys);
    let release = (): void => undefined;
    const promise = new Promise<void>((resolve) => (release = resolve));
    const spied = jest.spyOn(keys, 'findByHash').mockImplementation(async (...asked) => {
      await promise;
      return findByHash(...asked);
    });
    return { release, keys: spied };
  }
});
