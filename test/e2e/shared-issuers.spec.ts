import { setTimeout as wait } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app';
import { answered, aWorkspace, Client, expectProblem, type Answer, type Workspace } from '../support/client';
import { rowsOf, untilBlocked, withClient } from '../support/database';
import { PROBE, ProbeController } from '../support/probe';
import { inc } from '../support/runtime';
import { aSigningKey, aTokenIssuer, signToken, someClaims, type TokenIssuer } from '../support/tokens';
import { until } from '../support/until';

/** Contract section 2: what changes on one node is in force on every other one. */
const EVERYWHERE_MS_MAX = 1_000;
const CHALLENGE = 'Bearer realm="campaign-data-service", error="invalid_token"';

const MANY_REFUSALS = { AUTH_FAILURES_PER_MINUTE: '1000000' };

let service: TestApp;
let otherNode: TestApp;
/** By the time at which they register an issuer. */
let first: Workspace;
let second: Workspace;
let third: Workspace;

beforeAll(async () => {
  service = await startApp(MANY_REFUSALS, undefined, [ProbeController]);
  otherNode = await startApp(MANY_REFUSALS, undefined, [ProbeController]);
});

beforeEach(async () => {
  [first, second, third] = await Promise.all([aWorkspace(service), aWorkspace(service), aWorkspace(service)]);
});

afterAll(() => Promise.all([service.stop(), otherNode.stop()]));

/** What the service says of a token; `workspace` is the header, as it is sent. */
function probe(token: string, workspace?: string, node: TestApp = service): Promise<Answer> {
  const headers = workspace === undefined ? {} : { 'x-workspace': workspace };
  return new Client(node.url, token).send(PROBE, undefined, { method: 'GET', headers });
}

/** The workspace that a token is taken for, or the status of its refusal. */
async function tenantOf(...of: Parameters<typeof probe>): Promise<string | number> {
  const { status, body } = await probe(...of);
  return status === 200 ? body.tenantId : status;
}

function expectRefused(answer: Answer, words: RegExp): void {
  expectProblem(answer, 401, 'invalid_token', []);
  expect(answer.headers.get('www-authenticate')).toBe(CHALLENGE);
  expect(answer.body.message).toMatch(words);
}

/** The same issuer and audience, with the same keys unless others are given. */
const alsoBy = ({ admin }: Workspace, { issuer, audience, key }: TokenIssuer, fields: object = {}) =>
  aTokenIssuer(admin, { key, fields: { issuer, audience, ...fields } });
const remove = ({ admin }: Workspace, { record }: TokenIssuer): Promise<Answer> =>
  admin.send(`/v1/jwt-issuers/${record.id}`, undefined, { method: 'DELETE' });

describe('a token of an issuer that several workspaces have registered', () => {
  it('is for the one that registered it first, or for the one that the request names, on every node', async () => {
    const issuer = await aTokenIssuer(first.admin);
    await alsoBy(second, issuer);
    await alsoBy(third, issuer);
    const token = issuer.token();
    for (const node of [service, otherNode]) {
      // Twice: what is remembered of one must not be answered to the other.
      for (let time = 0; time < 2; time += 1) {
        expect(await tenantOf(token, undefined, node)).toBe(first.tenantId);
        for (const { name, tenantId } of [third, second, first]) {
          expect(await tenantOf(token, name, node)).toBe(tenantId);
        }
      }
    }
  });

  it('is verified with the keys of the workspace that it is for, and no others', async () => {
    const issuer = await aTokenIssuer(first.admin);
    const others = aSigningKey();
    await alsoBy(second, issuer, { jwks: { keys: [others.jwk] } });
    const [ofFirst, ofSecond] = [issuer.key, others].map((key) => signToken(key, someClaims(issuer)));
    expect(await tenantOf(ofFirst!)).toBe(first.tenantId);
    expectRefused(await probe(ofFirst!, second.name), /no key/);
    expect(await tenantOf(ofSecond!, second.name)).toBe(second.tenantId);
    expectRefused(await probe(ofSecond!, first.name), /no key/);
    expectRefused(await probe(ofSecond!), /no key/);
    // The key ids are right, and the keys are not.
    expectRefused(await probe(signToken(others, someClaims(issuer), { kid: issuer.key.kid })), /signature/);
    expectRefused(
      await probe(signToken(issuer.key, someClaims(issuer), { kid: others.kid }), second.name),
      /signature/,
    );
  });

  it('is held to the algorithms and rules of the workspace that it is for', async () => {
    const key = aSigningKey('RS256');
    const { alg: _alg, ...jwk } = key.jwk;
    const fields = { jwks: { keys: [jwk] }, algorithms: ['RS256'] };
    const issuer = await aTokenIssuer(first.admin, { key, fields: { ...fields, defaultCampaignId: 'spring' } });
    const claims = { campaign: 'campaign', app: 'azp' };
    await alsoBy(second, issuer, { ...fields, algorithms: ['PS256'], claims, defaultCampaignId: 'summer' });
    const [rs256, ps256] = (['RS256', 'PS256'] as const).map((alg) =>
      signToken({ ...key, alg }, { ...someClaims(issuer), campaign: 'second', campaign_id: 'first' }),
    );
    expect((await probe(rs256!)).body).toMatchObject({ campaignId: 'first', defaultCampaignId: 'spring' });
    expect((await probe(ps256!, second.name)).body).toMatchObject({
      campaignId: 'second',
      defaultCampaignId: 'summer',
    });
    expectRefused(await probe(rs256!, second.name), /algorithm/);
    expectRefused(await probe(ps256!), /algorithm/);
  });

  it('reads and changes the state of the workspace that it is for', async () => {
    const issuer = await aTokenIssuer(first.admin, { fields: { defaultCampaignId: 'spring' } });
    await alsoBy(second, issuer, { defaultCampaignId: 'spring' });
    for (const { admin } of [first, second]) {
      const variable = { scope: 'user', name: 'points', type: 'number' };
      expect((await admin.post('/v1/campaigns/spring/variables:define', variable)).status).toBe(200);
    }
    const participant = issuer.participant({ sub: 'jane' });
    const mutation = (value: number) => JSON.stringify({ ops: [inc('state.user.points', value)], mutation_id: 'one' });
    const send = (value: number, headers = {}) =>
      participant.send('/v1/runtime/state:mutate', mutation(value), { headers });
    const named = { headers: { 'x-workspace': second.name } };
    expect((await send(1)).body.mutations).toMatchObject([{ current: 1 }]);
    expect((await send(2, named.headers)).body).toMatchObject({ status: 'applied', mutations: [{ current: 2 }] });
    const states = await Promise.all(
      [{}, named].map((options) => participant.send('/v1/runtime/state', undefined, { method: 'GET', ...options })),
    );
    expect(states.map(({ body }) => body.state.user)).toEqual([{ points: 1 }, { points: 2 }]);
  });

  it('with several audiences is for the only one that is registered in the workspace that the request names', async () => {
    const issuer = await aTokenIssuer(first.admin);
    await alsoBy(second, issuer, { audience: 'others' });
    const token = issuer.token({ aud: ['others', issuer.audience] });
    expectRefused(await probe(token), /several registered issuers.*X-Workspace/);
    expect(await tenantOf(token, first.name)).toBe(first.tenantId);
    expect(await tenantOf(token, second.name)).toBe(second.tenantId);
    expectRefused(await probe(token, third.name), /No issuer is registered/);
    await alsoBy(second, issuer);
    expectRefused(await probe(issuer.token({ aud: ['others', issuer.audience] }), second.name), /several/);
  });
});

describe('a header that names no workspace of the issuer', () => {
  it('is refused in the same words whether there is such a workspace', async () => {
    const issuer = await aTokenIssuer(first.admin);
    const token = issuer.token();
    expect(await tenantOf(token)).toBe(first.tenantId);
    const refusals = await Promise.all(
      [second.name, 'nobody', first.name.toUpperCase(), first.tenantId, `${first.name}, ${first.name}`, '../x', ''].map(
        (name) => probe(token, name),
      ),
    );
    for (const answer of refusals) expectRefused(answer, /^No issuer is registered .* X-Workspace names\.$/);
    const told = refusals.map(({ body }) => JSON.stringify({ ...body, request_id: '' }));
    expect(new Set(told).size).toBe(1);
    expect(await tenantOf(token, first.name)).toBe(first.tenantId);
  });

  it('is of no importance to API keys, which have one workspace', async () => {
    const { status } = await first.admin.send('/v1/events', undefined, {
      method: 'GET',
      headers: { 'x-workspace': second.name },
    });
    expect(status).toBe(200);
  });
});

describe('registering and deleting a shared issuer', () => {
  it('counts within a second on every node where a workspace registers it too, whoever asked for it before', async () => {
    const issuer = await aTokenIssuer(first.admin);
    const token = issuer.token();
    for (const node of [service, otherNode]) {
      expect(await tenantOf(token, undefined, node)).toBe(first.tenantId);
      expect(await tenantOf(token, second.name, node)).toBe(401);
    }
    await alsoBy(second, issuer);
    expect(await tenantOf(token, second.name, service)).toBe(second.tenantId);
    await until(
      async () => (await tenantOf(token, second.name, otherNode)) === second.tenantId,
      EVERYWHERE_MS_MAX / 1_000,
    );
    for (const node of [otherNode, service]) {
      expect(await tenantOf(token, undefined, node)).toBe(first.tenantId);
    }
  });

  it('leaves it to the next oldest when the first deletes it: at once here, and within a second elsewhere', async () => {
    const issuer = await aTokenIssuer(first.admin);
    await alsoBy(second, issuer);
    await alsoBy(third, issuer);
    const token = issuer.token();
    for (const node of [service, otherNode]) {
      expect(await tenantOf(token, undefined, node)).toBe(first.tenantId);
      expect(await tenantOf(token, first.name, node)).toBe(first.tenantId);
    }
    await remove(first, issuer);
    const deletedAtMs = performance.now();
    expect(await tenantOf(token)).toBe(second.tenantId);
    expect(await tenantOf(token, first.name)).toBe(401);
    while ((await tenantOf(token, first.name, otherNode)) === first.tenantId) {
      expect(performance.now() - deletedAtMs).toBeLessThan(EVERYWHERE_MS_MAX);
      await wait(20);
    }
    expect(await tenantOf(token, undefined, otherNode)).toBe(second.tenantId);
    expect(await tenantOf(token, third.name, otherNode)).toBe(third.tenantId);

    // Who registers it anew is the last.
    await alsoBy(first, issuer);
    expect(await tenantOf(token, first.name, service)).toBe(first.tenantId);
    await until(
      async () => (await tenantOf(token, first.name, otherNode)) === first.tenantId,
      EVERYWHERE_MS_MAX / 1_000,
    );
    for (const node of [service, otherNode]) expect(await tenantOf(token, undefined, node)).toBe(second.tenantId);
  });

  it('never gives a pair to a later workspace, also when the clock of the database is set back', async () => {
    const issuer = await aTokenIssuer(first.admin);
    const ahead = "UPDATE jwt_issuers SET created_at = created_at + interval '1 hour' WHERE tenant_id = $1";
    await rowsOf(service.databaseUrl, ahead, [first.tenantId]);
    const later = await alsoBy(second, issuer);
    const [{ created_at: atFirst }] = (await rowsOf(
      service.databaseUrl,
      'SELECT created_at FROM jwt_issuers WHERE tenant_id = $1',
      [first.tenantId],
    )) as [{ created_at: Date }];
    expect(Date.parse(later.record.createdAt) - atFirst.getTime()).toBe(1);
    expect(await tenantOf(issuer.token())).toBe(first.tenantId);
  });

  it('lets a workspace have its time only when whoever registers the pair before it is done', async () => {
    const names = { issuer: `https://${first.tenantId}.example.com`, audience: 'campaigns' };
    const fields = { ...names, jwks: { keys: [aSigningKey().jwk] } };
    const [issuers, releasedAtMs] = await withClient(service.databaseUrl, async (holder) => {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE jwt_issuers IN SHARE MODE');
      const both = [first, second].map(({ admin }) => aTokenIssuer(admin, { fields }));
      await untilBlocked(service.databaseUrl, 'cds-requests', both.length);
      const { rows } = await holder.query('SELECT clock_timestamp() AS at');
      // Times have milliseconds.
      await holder.query('SELECT pg_sleep(0.01)');
      await holder.query('COMMIT');
      return [await Promise.all(both), rows[0].at.getTime()] as const;
    });
    const times = issuers.map(({ record }) => Date.parse(record.createdAt));
    expect(times.filter((atMs) => atMs <= releasedAtMs)).toHaveLength(1);
  });

  it('has one first of twenty workspaces that register it at the same time on two nodes', async () => {
    const workspaces = await Promise.all(
      Array.from({ length: 20 }, (_, at) => aWorkspace(at % 2 === 0 ? service : otherNode)),
    );
    const names = { issuer: `https://${first.tenantId}.example.com`, audience: 'campaigns' };
    const key = aSigningKey();
    const token = signToken(key, someClaims(names));
    let watches = true;
    const seen = new Set<string | number>();
    const watching = [service, otherNode].map(async (node) => {
      while (watches) seen.add(await tenantOf(token, undefined, node));
    });
    const registered = await Promise.all(
      workspaces.map(({ admin }) =>
        answered(() => admin.post('/v1/jwt-issuers', { ...names, jwks: { keys: [key.jwk] } })),
      ),
    );
    watches = false;
    await Promise.all(watching);
    expect(new Set(registered.map(({ status }) => status))).toEqual(new Set([201]));
    const times = registered.map(({ body }) => Date.parse(body.createdAt));
    expect(new Set(times).size).toBe(workspaces.length);
    const winner = workspaces[times.indexOf(Math.min(...times))]?.tenantId;
    seen.delete(401);
    for (const tenant of seen) expect(tenant).toBe(winner);
    for (const node of [service, otherNode]) expect(await tenantOf(token, undefined, node)).toBe(winner);
  });
});
