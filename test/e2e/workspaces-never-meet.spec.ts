import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, INGEST_FAMILIES, registerTypes } from '../support/builders';
import { expectProblem, faultsOf, reviewEntries, type Answer, type Client } from '../support/client';
import { anEd25519Signer, sendSigned } from '../support/signatures';
import { inBoth, twins, type Twin } from '../support/twins';

/** Two workspaces that call everything by the same names. By which routes they could meet is in a file of its own. */

const COPIES = 20;
const VARIABLES_MAX = 3;
const CAMPAIGN = 'spring';

let service: TestApp;
let both: readonly [Twin, Twin];
let one: Twin;
let other: Twin;

beforeAll(async () => {
  service = await startApp({ VARIABLES_PER_SCOPE_MAX: String(VARIABLES_MAX) });
});

beforeEach(async () => {
  both = await twins(service);
  [one, other] = both;
});

afterAll(() => service.stop());

const statuses = (answers: readonly Answer[]): string[] => answers.map(({ body }) => body.status).sort();
const onceAccepted = ['accepted', ...Array<string>(COPIES - 1).fill('duplicate')];
const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, () => work()));
const post = async (client: Client, path: string, body: unknown, status: number): Promise<any> => {
  const answer = await client.post(path, body);
  expect([path, answer.status]).toEqual([path, status]);
  return answer.body;
};

describe.each(INGEST_FAMILIES)(
  'the same $family event in two workspaces',
  ({ path, batchPath, anEvent, ...family }) => {
    beforeEach(() => inBoth(both, ({ admin }) => registerTypes(admin)));

    it('is accepted once by each, however many send it at the same time, and has two ids', async () => {
      const event = anEvent();
      const answers = await inBoth(both, ({ admin }) => times(COPIES, () => admin.post(path, event)));
      expect(answers.map(statuses)).toEqual([onceAccepted, onceAccepted]);
      const ids = answers.map((each) => each.map(({ body }) => body.event_id ?? body.original_event_id));
      expect(ids.map((each) => new Set(each).size)).toEqual([1, 1]);
      expect(ids[0]![0]).not.toBe(ids[1]![0]);
    });

    it('is accepted once by each in batches at the same time', async () => {
      const items = Array.from({ length: COPIES }, () => anEvent());
      const answers = await inBoth(both, ({ admin }) => admin.post(batchPath, { items }));
      const results = answers.map(({ body }) => body.results);
      for (const each of results)
        expect(statuses(each.map((body: object) => ({ body })))).toEqual(items.map(() => 'accepted'));
      expect(new Set(results.flat().map(({ event_id }) => event_id)).size).toBe(2 * COPIES);
    });

    it('cannot be guessed: one takes for new what the other has, dry and live', async () => {
      const event = anEvent();
      await post(one.admin, path, event, 202);
      const dry = await post(other.admin, `${path}?dry_run=true`, event, 202);
      const live = await post(other.admin, path, event, 202);
      expect([dry.status, live.status]).toEqual(['accepted', 'accepted']);
    });

    it('may say something else in each, and nobody is warned', async () => {
      const event = anEvent();
      const changed = { ...event, [family.properties]: { amount: 1 } };
      await post(one.admin, path, event, 202);
      await post(other.admin, path, changed, 202);
      expect(await inBoth(both, ({ admin }) => reviewEntries(admin))).toEqual([[], []]);
      await post(one.admin, path, changed, 200);
      const entries = await inBoth(both, ({ admin }) => reviewEntries(admin));
      expect(entries.map((each) => each.map(({ reason }) => reason))).toEqual([['payload_mismatch'], []]);
    });

    it('is found by its names in the one that has it', async () => {
      const event = anEvent();
      await post(one.admin, path, event, 202);
      const query = new URLSearchParams({ source: String(event['source']), externalEventId: String(event[family.id]) });
      const found = await inBoth(both, ({ admin }) => admin.get(`/v1/events?${query.toString()}`));
      expect(found.map(({ body }) => body.items.length)).toEqual([1, 0]);
    });

    it('leaves a review entry in each that it was wrong in, counted and put right in each by itself', async () => {
      const wrong = anEvent({ identity: {} });
      await inBoth(both, ({ admin }) => post(admin, path, wrong, 422));
      await post(one.admin, path, wrong, 422);
      const ofBoth = () => inBoth(both, ({ admin }) => reviewEntries(admin));
      const entries = await ofBoth();
      expect(entries.map((each) => each.map(({ occurrences }) => occurrences))).toEqual([[2], [1]]);
      expect(entries[0][0].id).not.toBe(entries[1][0].id);
      await post(one.admin, path, anEvent({ ...wrong, identity: family.anIdentity('EXTERNAL', 'jane') }), 202);
      expect((await ofBoth()).map((each) => each.map(({ status }) => status))).toEqual([['superseded'], ['open']]);
    });
  },
);

describe('the same person in two workspaces', () => {
  const profileOf = async (admin: Client, identity: object): Promise<string> => {
    const event = { source: 'app', externalEventId: randomUUID(), eventType: 'purchase', identity };
    const { event_id: id } = await post(admin, '/v1/cdp/events', { ...event, properties: { amount: 1 } }, 202);
    return (await admin.get(`/v1/events/${id}`)).body.profileId;
  };

  beforeEach(() => inBoth(both, ({ admin }) => registerTypes(admin)));

  it('is two people, whatever of them is the same', async () => {
    for (const identity of [
      { externalUserId: 'jane' },
      { externalUserId: 'jane', email: 'jane@example.com', deviceKey: 'phone' },
      { email: 'jane@example.com' },
    ]) {
      const [here, there] = await inBoth(both, ({ admin }) => profileOf(admin, identity));
      expect(here).not.toBe(there);
      expect(await profileOf(one.admin, { externalUserId: 'jane' })).toBe(here);
    }
  });

  it('is in one what the other never heard of: nothing is linked, merged or in conflict across', async () => {
    const shared = { email: 'family@example.com', deviceKey: 'tablet' };
    const [janes, joes] = await Promise.all([
      profileOf(one.admin, { externalUserId: 'jane', ...shared }),
      profileOf(other.admin, { externalUserId: 'joe', ...shared }),
    ]);
    expect(await inBoth(both, ({ admin }) => profileOf(admin, { email: shared.email }))).toEqual([janes, joes]);
    expect(await profileOf(one.admin, { externalUserId: 'joe' })).not.toBe(joes);
    expect(await inBoth(both, ({ admin }) => reviewEntries(admin))).toEqual([[], []]);
  });
});

describe('an event type of the same name in two workspaces', () => {
  const type = (properties: object) => ({ eventType: 'visit', properties });
  const visit = (properties: object) => ({
    source: 'web',
    externalEventId: randomUUID(),
    eventType: 'visit',
    identity: { externalUserId: 'jane' },
    properties,
  });

  it('is two types, each the first version and in force for its own events only', async () => {
    const amounts = ['number', 'string'];
    const registered = await Promise.all(
      both.map(({ admin }, at) => post(admin, '/v1/cdp/event-types', type({ amount: { type: amounts[at] } }), 201)),
    );
    expect(registered.map(({ version }) => version)).toEqual([1, 1]);
    for (const [amount, statusesOfBoth] of [
      [1, [202, 422]],
      ['one', [422, 202]],
    ] as const) {
      const answers = await inBoth(both, ({ admin }) => admin.post('/v1/cdp/events', visit({ amount })));
      expect(answers.map(({ status }) => status)).toEqual(statusesOfBoth);
    }
  });

  it('is unknown to one while only the other has it', async () => {
    await post(one.admin, '/v1/cdp/event-types', type({}), 201);
    await post(one.admin, '/v1/cdp/events', visit({}), 202);
    const refused = await other.admin.post('/v1/cdp/events', visit({}));
    expectProblem(refused, 422, 'validation_failed', ['eventType unregistered_event_type']);
  });

  it('says in each by itself what is personal', async () => {
    const shown = await inBoth(both, async ({ admin, mark }) => {
      await post(admin, '/v1/cdp/event-types', type({ note: { type: 'string', pii: mark === one.mark } }), 201);
      const { event_id: id } = await post(admin, '/v1/cdp/events', visit({ note: 'a word or two' }), 202);
      return (await admin.get(`/v1/events/${id}`)).body.properties.note;
    });
    expect([shown[0] === 'a word or two', shown[1]]).toEqual([false, 'a word or two']);
  });
});

describe('a campaign of the same name in two workspaces', () => {
  const define = ({ admin }: Twin, fields: object): Promise<Answer> =>
    admin.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, {
      scope: 'user',
      name: 'points',
      type: 'number',
      ...fields,
    });
  const add = (path: string, value: number, id?: string): object => ({
    ops: [{ path, op: 'inc', value }],
    ...(id === undefined ? {} : { mutation_id: id }),
  });
  const mutate = (twin: Twin, body: object): Promise<Answer> =>
    twin.participant().post(`/v1/campaigns/${CAMPAIGN}/runtime/state:mutate`, body);
  const stateOf = async (twin: Twin): Promise<any> =>
    (await twin.participant().get(`/v1/campaigns/${CAMPAIGN}/runtime/state`)).body.state;
  const SCOPES = ['user', 'campaign', 'app'];
  const defineAll = (): Promise<unknown> =>
    inBoth(both, (twin) => Promise.all(SCOPES.map((scope) => define(twin, { scope }))));

  it('declares its variables in each by itself, of other types too', async () => {
    for (const scope of SCOPES) {
      const answers = await Promise.all([
        define(one, { scope }),
        define(other, { scope, type: 'string', default: 'x' }),
      ]);
      expect(answers.map(({ status, body }) => [status, body.variable.type])).toEqual([
        [200, 'number'],
        [200, 'string'],
      ]);
    }
    expect([(await stateOf(one)).app, (await stateOf(other)).app]).toEqual([{ points: null }, { points: 'x' }]);
  });

  it('is full in each by itself', async () => {
    for (let at = 0; at < VARIABLES_MAX; at++) expect((await define(one, { name: `points${at}` })).status).toBe(200);
    expect((await define(one, { name: 'more' })).body.error_code).toBe('variable_limit_exceeded');
    expect((await define(other, { name: 'more' })).status).toBe(200);
    const lists = await inBoth(both, ({ admin }) => admin.get(`/v1/campaigns/${CAMPAIGN}/variables`));
    expect(lists.map(({ body }) => body.variables.length)).toEqual([VARIABLES_MAX, 1]);
  });

  it('is archived in each by itself', async () => {
    await defineAll();
    await post(one.admin, `/v1/campaigns/${CAMPAIGN}/variables:archive`, { scope: 'user', name: 'points' }, 200);
    expect([(await stateOf(one)).user, (await stateOf(other)).user]).toEqual([{}, { points: null }]);
  });

  it('applies the same mutation id of the same participant once in each, at the same time', async () => {
    await defineAll();
    const answers = await Promise.all(
      both.map((twin, at) => times(COPIES, () => mutate(twin, add('state.user.points', at + 1, 'checkout')))),
    );
    const once = ['applied', ...Array<string>(COPIES - 1).fill('duplicate')];
    expect(answers.map(statuses)).toEqual([once, once]);
    const told = answers.map((each) => [...new Set(each.map(({ body }) => body.mutations[0].current))]);
    expect(told).toEqual([[1], [2]]);
    expect([(await stateOf(one)).user, (await stateOf(other)).user]).toEqual([{ points: 1 }, { points: 2 }]);
  });

  it.each(SCOPES)('keeps %s values in each by itself, under any number of changes at once', async (scope) => {
    await defineAll();
    await Promise.all(both.map((twin, at) => times(COPIES, () => mutate(twin, add(`state.${scope}.points`, at + 1)))));
    const states = await inBoth(both, stateOf);
    expect(states.map((state) => state[scope])).toEqual([{ points: COPIES }, { points: 2 * COPIES }]);
  });

  it('shows operators the participant of their own workspace', async () => {
    await defineAll();
    const sessions = await inBoth(both, async (twin) => {
      const token = twin.issuer.participant({ sub: 'jane', sid: `session-${twin.mark}` });
      await post(token, `/v1/campaigns/${CAMPAIGN}/runtime/state:mutate`, add('state.user.points', 1), 200);
      return (await twin.admin.get(`/v1/campaigns/${CAMPAIGN}/participants/jane/state`)).body.state.system.sessionId;
    });
    expect(sessions).toEqual(both.map(({ mark }) => `session-${mark}`));
  });

  it('has no variable in one that only the other declares', async () => {
    await define(one, {});
    const refused = await mutate(other, add('state.user.points', 1));
    expect([refused.status, refused.body.error_code, faultsOf(refused.body)]).toEqual([
      ...[400, 'undeclared_variable'],
      ['ops[0].path undeclared_variable'],
    ]);
    expect(await stateOf(other)).toEqual({ user: {}, campaign: {}, app: {} });
  });
});

describe('credentials of two workspaces', () => {
  it('may have the same name, and end each by itself', async () => {
    const keys = await inBoth(both, async ({ admin }) => {
      const issued = await post(admin, '/v1/api-keys', { name: 'shop', scopes: ['events:read'] }, 201);
      return {
        ...issued,
        get: () => fetch(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${issued.key}` } }),
      };
    });
    await post(one.admin, `/v1/api-keys/${keys[0].apiKey.id}:revoke`, {}, 200);
    expect([(await keys[0].get()).status, (await keys[1].get()).status]).toEqual([401, 200]);
  });

  it('sign what goes to their own one', async () => {
    const signer = await anEd25519Signer(one.admin);
    const event = anExternalEvent();
    const target = '/v1/external-events';
    expect((await sendSigned(service.url, signer, { target, body: JSON.stringify(event) })).status).toBe(202);
    expect((await other.admin.post(target, event)).body.status).toBe('accepted');
    const lists = await inBoth(both, ({ admin }) => admin.get('/v1/events'));
    expect(lists.map(({ body }) => body.items.length)).toEqual([1, 1]);
  });

  it('may be of one issuer for two audiences, whose tokens end each with their own', async () => {
    expect(one.issuer.issuer).toBe(other.issuer.issuer);
    const tokens = both.map((twin) => twin.participant());
    const statusesNow = () => Promise.all(tokens.map(async (token) => (await token.get('/v1/runtime/state')).status));
    expect(await statusesNow()).toEqual([200, 200]);
    await one.admin.send(`/v1/jwt-issuers/${one.issuer.record.id}`, undefined, { method: 'DELETE' });
    expect(await statusesNow()).toEqual([401, 200]);
  });

  it('are not told that the other has registered an issuer and audience, nor kept from it', async () => {
    const { issuer, audience, key } = one.issuer;
    const again = { issuer, audience, jwks: { keys: [key.jwk] } };
    const [own, foreign] = await inBoth(both, ({ admin }) => admin.post('/v1/jwt-issuers', again));
    expectProblem(own, 409, 'issuer_taken');
    expect(foreign.status).toBe(201);
    expect(JSON.stringify(foreign.body)).not.toContain(one.issuer.record.id);
    expect((await one.admin.get('/v1/jwt-issuers')).body.items.length).toBe(1);
  });
});
