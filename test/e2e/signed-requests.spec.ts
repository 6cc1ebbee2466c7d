import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Logger } from '@nestjs/common';
import { ServiceCredentialRepository } from '../../src/service-credentials/service-credential.repository';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, expectProblem, reviewEntries, type Answer, type Workspace } from '../support/client';
import {
  anEd25519Signer,
  anHmacSigner,
  digestOf,
  sendRaw,
  sendSigned,
  signatureOf,
  type SignatureOptions,
  type Signer,
} from '../support/signatures';
import { until } from '../support/until';

const PATH = '/v1/external-events';
const BATCH_PATH = '/v1/external-events:batch';
/** Contract section 2; how long an answer takes does not count. */
const REFUSED_MS_MAX = 1_000;

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
});

afterAll(() => service.stop());

const anEvent = (): string => JSON.stringify(anExternalEvent());

function send(signer: Signer, body: string | Uint8Array = anEvent(), target = PATH, options?: SignatureOptions) {
  return sendSigned(service.url, signer, { target, body }, options);
}

async function idsSeenBy(client: Client): Promise<unknown[]> {
  return (await client.get('/v1/events')).body.items.map(({ eventId }: any) => eventId);
}

describe.each([
  ['Ed25519', anEd25519Signer],
  ['HMAC', anHmacSigner],
])('a request signed by %s', (_kind, aSigner) => {
  let signer: Signer;

  beforeEach(async () => {
    signer = await aSigner(workspace.admin);
  });

  it('sends an event into the workspace of its credential, and into no other', async () => {
    const stranger = await aWorkspace(service);
    await aSigner(stranger.admin);
    const { status, body } = await send(signer);
    expect([status, body]).toEqual([202, { status: 'accepted', event_id: expect.any(String) }]);
    expect(await idsSeenBy(workspace.admin)).toEqual([body.event_id]);
    expect(await idsSeenBy(stranger.admin)).toEqual([]);
  });

  it('sends a batch, of any source', async () => {
    const items = [anExternalEvent({ source: 'shop.orders' }), anExternalEvent({ source: 'crm.contacts' }), { bad: 1 }];
    const { status, body } = await send(signer, JSON.stringify({ items }), BATCH_PATH);
    expect([status, body.results.map((result: any) => result.status)]).toEqual([
      200,
      ['accepted', 'accepted', 'error'],
    ]);
  });

  it('takes effect once when somebody sends it again, as it was', async () => {
    const message = { target: PATH, body: anEvent() };
    const headers = signatureOf(signer, message);
    const first = await sendRaw(service.url, message, headers);
    const replays = await Promise.all(Array.from({ length: 5 }, () => sendRaw(service.url, message, headers)));
    expect(replays.map(({ status, body }) => [status, body])).toEqual(
      Array(5).fill([200, { status: 'duplicate', original_event_id: first.body.event_id }]),
    );
  });

  it('is signed over the bytes of the line when its body is packed', async () => {
    const packed = gzipSync(anEvent());
    const message = { target: PATH, body: packed };
    const headers = { ...signatureOf(signer, message), 'content-encoding': 'gzip' };
    expect((await sendRaw(service.url, message, headers)).status).toBe(202);
    const ofText = signatureOf(signer, message, { contentDigest: digestOf(anEvent()) });
    expectProblem(
      await sendRaw(service.url, message, { ...ofText, 'content-encoding': 'gzip' }),
      ...([401, 'invalid_signature'] as const),
    );
  });

  it('is signed over the path as it is sent', async () => {
    const body = JSON.stringify({ items: [anExternalEvent()] });
    for (const target of [
      '/v1/external-events%3Abatch',
      '/v1/external-events%3abatch',
      `http://any.example${BATCH_PATH}`,
    ]) {
      const path = target.replace('http://any.example', '');
      const headers = signatureOf(signer, { target: path, body });
      expect([target, (await sendRaw(service.url, { target, body }, headers)).status]).toEqual([target, 200]);
      const ofColon = signatureOf(signer, { target: BATCH_PATH, body });
      const { status } = await sendRaw(service.url, { target, body }, ofColon);
      expect([target, status]).toEqual([target, path === BATCH_PATH ? 200 : 401]);
    }
  });

  it('is signed over the query: a dry run is no live call, and a live call no dry run', async () => {
    const body = anEvent();
    for (const [target, other] of [
      [`${PATH}?dry_run=true`, PATH],
      [PATH, `${PATH}?dry_run=true`],
    ] as const) {
      const { status } = await sendRaw(service.url, { target: other, body }, signatureOf(signer, { target, body }));
      expect([target, other, status]).toEqual([target, other, 401]);
    }
    expect((await send(signer, body, `${PATH}?dry_run=true`)).body.status).toBe('accepted');
    expect((await send(signer, body, `${PATH}?`)).status).toBe(202);
  });

  it('may have been made 290 s ago by our clock, or 290 s ahead of it, and not 310 s', async () => {
    const statusAt = async (age: number): Promise<number> => (await send(signer, anEvent(), PATH, { age })).status;
    expect(await Promise.all([290, -290, 310, -310].map(statusAt))).toEqual([202, 202, 401, 401]);
  });

  it('is refused before anything is said about its body when the body is another one', async () => {
    const digest = { contentDigest: digestOf('another body') };
    const answers = [
      await send(signer, anEvent(), PATH, digest),
      await send(signer, '{"not JSON', PATH, digest),
      await send(signer, '', PATH, digest),
      await send(signer, '{}', PATH, digest),
      await send(signer, '{"items":[]}', BATCH_PATH, digest),
      await send(signer, anEvent(), PATH, { contentDigest: `${digestOf(anEvent())}, ${digestOf('x', 'sha-512')}` }),
    ];
    for (const answer of answers) {
      expectProblem(answer, 401, 'invalid_signature');
      expect(answer.body.message).toBe('The body does not have the Content-Digest that was signed.');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+", error="invalid_token"$/);
    }
    expect([await idsSeenBy(workspace.admin), await reviewEntries(workspace.admin)]).toEqual([[], []]);
  });

  it('leaves nothing of a body in the review area that is too large to prove that it is the signed one', async () => {
    const tooLarge = JSON.stringify({ mark: 'x'.repeat(300_000) });
    const refused = await send(signer, tooLarge);
    expectProblem(refused, 413, 'payload_too_large');
    const [entry] = await reviewEntries(workspace.admin);
    expect(entry).toMatchObject({ reason: 'payload_too_large' });
    expect(JSON.stringify(entry)).not.toContain('xxxx');
  });

  it('is told of its body like any other caller once the body is the one that was signed', async () => {
    expectProblem(await send(signer, '{"not JSON'), 400, 'malformed_json');
    expectProblem(await send(signer, '{}'), 422, 'validation_failed');
    expect(await reviewEntries(workspace.admin)).toHaveLength(2);
  });

  it('is refused at once when its credential is revoked, though it was remembered', async () => {
    expect((await send(signer)).status).toBe(202);
    expect((await workspace.admin.post(`/v1/service-credentials/${signer.keyId}:revoke`, {})).status).toBe(200);
    const refused = await send(signer);
    expectProblem(refused, 401, 'invalid_signature');
    expect(refused.body.message).toMatch(/revoked/);
  });

  it('is taken with its key id in capitals, and refused in capitals too once that is revoked', async () => {
    const shouting = { ...signer, keyId: signer.keyId.toUpperCase() };
    expect((await send(shouting)).status).toBe(202);
    await workspace.admin.post(`/v1/service-credentials/${shouting.keyId}:revoke`, {});
    expect([(await send(shouting)).status, (await send(signer)).status]).toEqual([401, 401]);
  });

  it('is refused within a second by every other node', async () => {
    const other = await startApp();
    try {
      const statusThere = async (): Promise<number> =>
        (await sendSigned(other.url, signer, { target: PATH, body: anEvent() })).status;
      await until(async () => (await statusThere()) === 202);
      expect((await workspace.admin.post(`/v1/service-credentials/${signer.keyId}:revoke`, {})).status).toBe(200);
      const revokedAt = performance.now();
      let takenAt = revokedAt;
      await until(async () => {
        const askedAt = performance.now();
        const isTaken = (await statusThere()) === 202;
        if (isTaken) takenAt = askedAt;
        return !isTaken;
      });
      expect(takenAt - revokedAt).toBeLessThanOrEqual(REFUSED_MS_MAX);
    } finally {
      await other.stop();
    }
  });
});

describe('when a credential was last used', () => {
  const lastUsedAt = async ({ keyId }: Signer): Promise<string | null> =>
    (await workspace.admin.get(`/v1/service-credentials/${keyId}`)).body.lastUsedAt;

  it('is shown once a request was signed with it, and not when somebody only names it', async () => {
    const [used, named] = [await anEd25519Signer(workspace.admin), await anHmacSigner(workspace.admin)];
    const startedAt = Date.now();
    expect((await send({ ...used, keyId: named.keyId, algorithm: named.algorithm })).status).toBe(401);
    expect((await send(used)).status).toBe(202);
    // Uses are stored one after the other: that of the other one would have come first.
    await until(async () => (await lastUsedAt(used)) !== null);
    expect(Date.parse((await lastUsedAt(used)) ?? '')).toBeGreaterThanOrEqual(startedAt - 1);
    expect(await lastUsedAt(named)).toBeNull();
  });

  it('is written once for many requests', async () => {
    const used = await anEd25519Signer(workspace.admin);
    const written = jest.spyOn(service.app.get(ServiceCredentialRepository), 'storeUse');
    for (let request = 0; request < 10; request += 1) expect((await send(used)).status).toBe(202);
    await until(async () => (await lastUsedAt(used)) !== null);
    // Twice if the node had to read the credential again while the first write was under way.
    expect(written.mock.calls.filter(([, id]) => id === used.keyId).length).toBeLessThanOrEqual(2);
    written.mockRestore();
  });
});

describe('a signature beside an API key', () => {
  const both = (signer: Signer, authorization: string, headers = {}): Promise<Answer> => {
    const message = { target: PATH, body: anEvent() };
    return sendRaw(service.url, message, { ...signatureOf(signer, message), authorization, ...headers });
  };

  it('is not looked at: the API key decides', async () => {
    const signer = await anEd25519Signer(workspace.admin);
    expectProblem(await both(signer, 'Bearer nonsense'), 401, 'invalid_api_key');
    expectProblem(await both(signer, ''), 401, 'unauthenticated');
    const weak = await workspace.client({ scopes: ['events:read'] });
    expectProblem(await both(signer, `Bearer ${weak.key}`), 403, 'insufficient_scope');
    const broken = { signature: 'sig1=:YQ==:', 'content-digest': digestOf('another body') };
    expect((await both(signer, `Bearer ${workspace.admin.key}`, broken)).status).toBe(202);
  });
});

describe('a route that takes no signatures', () => {
  it.each([
    ['POST', '/v1/cdp/events'],
    ['POST', '/v1/cdp/events/batch'],
    ['GET', '/v1/events'],
    ['GET', '/v1/service-credentials'],
    ['POST', '/v1/service-credentials'],
    ['POST', `/v1/service-credentials/${randomUUID()}:revoke`],
    ['POST', '/v1/api-keys'],
  ])('says so: %s %s', async (method, target) => {
    const message = { method, target, body: method === 'GET' ? '' : '{}' };
    const answer = await sendRaw(service.url, message, signatureOf(await anEd25519Signer(workspace.admin), message));
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.body.message).toMatch(/API key is needed; signed requests are for the external-events routes/);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="campaign-data-service"');
  });
});

describe('a secret that the service cannot read', () => {
  it('is no fault of the client: 503, and the log says what the operator has to do', async () => {
    const signer = await anHmacSigner(workspace.admin);
    const pair = await anEd25519Signer(workspace.admin);
    for (const secretsKey of ['another-secrets-key-of-more-than-32-characters', '']) {
      const told = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
      const blind = await startApp({ SECRETS_KEY: secretsKey });
      try {
        const answer = await sendSigned(blind.url, signer, { target: PATH, body: anEvent() });
        expectProblem(answer, 503, 'unavailable');
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
        expect((await sendSigned(blind.url, pair, { target: PATH, body: anEvent() })).status).toBe(202);
        const words = new RegExp(
          `^The secret of service credential ${signer.keyId} cannot be decrypted\\..*SECRETS_KEY`,
        );
        // The database is shared: what else another SECRETS_KEY cannot read there is no concern of this test.
        const ofCredentials = told.mock.calls.filter(([message]) => /service credential/.test(String(message)));
        expect(ofCredentials).toEqual([[expect.stringMatching(words)]]);
      } finally {
        await blind.stop();
        told.mockRestore();
      }
    }
  });
});
