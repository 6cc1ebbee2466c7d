import { startApp, type TestApp } from '../support/app';
import { type Answer, aWorkspace, Client, expectProblem, type Workspace } from '../support/client';
import { pagesOf } from '../support/pages';

const CAMPAIGN = 'summer-2026';
const OPS = [{ path: 'state.user.points', op: 'inc', value: 1 }];
/** As many as there may be. */
const PER_CAMPAIGN_MAX = 100;
const PER_EVENT_TYPE_MAX = 50;

let service: TestApp;
let other: TestApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  [service, other] = await Promise.all([startApp(), startApp()]);
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  client = workspace.admin;
  for (const [scope, name, type] of [
    ['user', 'points', 'number'],
    ['campaign', 'note', 'string'],
    ['app', 'open', 'boolean'],
  ])
    await client.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type });
});
afterAll(() => Promise.all([service.stop(), other.stop()]));

const path = (name?: string, campaign = CAMPAIGN): string =>
  `/v1/campaigns/${campaign}/reactions${name === undefined ? '' : `/${name}`}`;
const aReaction = (fields: object = {}): object => ({ name: 'count', eventType: 'purchase', ops: OPS, ...fields });
const define = (fields: object = {}, by = client, campaign = CAMPAIGN): Promise<Answer> =>
  by.post(`/v1/campaigns/${campaign}/reactions:define`, aReaction(fields));
const remove = (name: string, by = client): Promise<Answer> => by.send(path(name), undefined, { method: 'DELETE' });
const list = async (query = '', by = client, campaign = CAMPAIGN): Promise<any> =>
  (await by.get(`${path(undefined, campaign)}${query}`)).body;
const nodeOf = (index: number): Client => (index % 2 === 0 ? client : new Client(other.url, client.key));

function outcomes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = `${status} ${body.error_code ?? body.status} ${body.details?.[0]?.path ?? ''}`.trim();
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe('defining a reaction', () => {
  it('answers it as it was sent, and a list and its address show the same', async () => {
    const when = {
      and: [{ '>=': [{ var: 'event.properties.amount' }, 20] }, { '==': [{ var: 'event.source' }, 'shop'] }],
    };
    const ops = [
      { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' },
      { path: 'state.campaign.note', op: 'set', valueFrom: 'properties.items.0.sku' },
      { path: 'state.app.open', op: 'set', value: true },
    ];
    const { status, body } = await define({ source: 'shop', when, ops });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect([status, body]).toEqual([
      200,
      {
        status: 'defined',
        reaction: {
          campaignId: CAMPAIGN,
          name: 'count',
          eventType: 'purchase',
          source: 'shop',
          when,
          ops,
          enabled: true,
          appliesFrom: time,
          createdAt: time,
          updatedAt: time,
        },
        warnings: [{ path: 'eventType', code: 'unknown_event_type', message: expect.stringContaining('purchase') }],
      },
    ]);
    expect(await list()).toEqual({ items: [body.reaction], nextCursor: null });
    expect((await client.get(path('count'))).body).toEqual(body.reaction);
  });

  it('again with the same words changes nothing, and with others replaces everything that it said', async () => {
    const first = (await define({ source: 'shop', when: { '!': [{ var: 'event.source' }] }, enabled: null })).body;
    expect((await define({ source: 'shop', when: { '!': [{ var: 'event.source' }] } })).body).toEqual(first);
    const { reaction } = (await define({ enabled: false, source: null })).body;
    expect(reaction).toMatchObject({ enabled: false, createdAt: first.reaction.createdAt });
    expect('source' in reaction || 'when' in reaction).toBe(false);
    expect((await list()).items).toEqual([reaction]);
  });

  it('names every fault of the body at once, and repeats no value', async () => {
    const refused = await define({
      name: 'no name',
      eventType: '',
      source: 7,
      extra: 1,
      enabled: 'secret-value',
      when: { and: [{ var: 'a' }, { foo: ['secret-value'] }] },
      ops: [
        { path: 'state.user.points', op: 'inc' },
        { path: 'state.user.points', op: 'inc', value: 1, valueFrom: 'properties.amount' },
        { path: 'state.user.points', op: 'inc', valueFrom: 'properties.__proto__.secret-value' },
        { path: 'state.user.points', op: 'add', valueFrom: 'secret-value.amount' },
        { path: 'state.user.points', op: 'inc', valueFrom: 'properties' },
        { path: 'state.user.points', op: 'inc', value: 'secret-value', sorce: 1 },
      ],
    });
    expectProblem(refused, 422, 'validation_failed', [
      ...['name format', 'eventType empty', 'source type', 'extra unknown_field', 'enabled type'],
      ...['when.and[1].foo unknown_operator', 'ops[0].value required', 'ops[1].valueFrom conflicting_fields'],
      ...['ops[2].valueFrom format', 'ops[3].op enum', 'ops[3].valueFrom format', 'ops[4].valueFrom format'],
      ...['ops[5].value type', 'ops[5].sorce unknown_field'],
    ]);
    expect(JSON.stringify(refused.body)).not.toContain('secret-value');
  });

  it.each<[unknown, string]>([
    [[], 'ops too_few_items'],
    [Array.from({ length: 101 }, () => OPS[0]), 'ops too_many_items'],
    [null, 'ops required'],
    [{ length: 1 }, 'ops type'],
    [['state.user.points'], 'ops[0] type'],
  ])('refuses %j as its ops', async (ops, fault) => {
    expectProblem(await define({ ops }), 422, 'validation_failed', [fault]);
  });

  it('refuses numbers that would change on their way', async () => {
    const body = JSON.stringify({ name: 'count', eventType: 'purchase', when: { '>': ['N', 1] }, ops: OPS });
    const text = body.replace('"N"', '1e-400').replace(/"value":[^,}]+/, '"value":0.1234567890123456789');
    expectProblem(await client.send(`${path()}:define`, text), 422, 'validation_failed', [
      ...['ops[0].value range', 'when[">"][0] range'],
    ]);
  });

  it('refuses paths that the campaign does not declare, every one of them', async () => {
    const ops = [
      { path: 'state.user.nothing', op: 'set', value: 1 },
      { path: 'state.user.points', op: 'set', value: 1 },
      { path: 'state.sessionId', op: 'set', valueFrom: 'eventId' },
      { path: 'state.user.__proto__', op: 'set', valueFrom: 'eventId' },
    ];
    expectProblem(await define({ ops }), 422, 'validation_failed', [
      ...['ops[0].path undeclared_variable', 'ops[2].path system_field', 'ops[3].path system_field'],
    ]);
    expectProblem(await define({}, client, 'unheard-of'), 422, 'validation_failed', [
      'ops[0].path undeclared_variable',
    ]);
  });

  it('refuses values of another type, and counting what is no number, but not what only the event will tell', async () => {
    const ops = [
      { path: 'state.user.points', op: 'set', value: 'x' },
      { path: 'state.campaign.note', op: 'inc', valueFrom: 'properties.n' },
      { path: 'state.app.open', op: 'set', valueFrom: 'properties.open' },
      { path: 'state.campaign.note', op: 'set', value: true },
    ];
    expectProblem(await define({ ops }), 422, 'validation_failed', [
      'ops[0].value type',
      'ops[1].op type',
      'ops[3].value type',
    ]);
  });

  it('takes a variable that was declared on another node just before', async () => {
    for (let round = 0; round < 10; round += 1) {
      const variable = { scope: 'user', name: `v${round}`, type: 'number' };
      await nodeOf(0).post(`/v1/campaigns/${CAMPAIGN}/variables:define`, variable);
      const ops = [{ path: `state.user.v${round}`, op: 'inc', value: 1 }];
      expect((await define({ ops }, nodeOf(1))).status).toBe(200);
    }
  });

  it.each(['[]', '"x"', '7', 'null'])('refuses %s', async (body) => {
    const answer = await client.send(`${path()}:define`, body);
    expectProblem(answer, 422, 'validation_failed', [' type']);
  });
});

describe('reactions of a campaign', () => {
  it('are listed newest first in pages, each once', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `r${index}`);
    for (const name of names) await define({ name });
    await define({ name: 'r3', enabled: false });
    const pages = await pagesOf(client, `${path()}?limit=3`);
    expect(pages.flat().map(({ name }) => name)).toEqual(names.toReversed());
    expect(await list('', client, 'unheard-of')).toEqual({ items: [], nextCursor: null });
    expectProblem(await client.get(`${path()}?cursor=nonsense`), 422, 'validation_failed', ['cursor format']);
  });

  it('can be deleted once', async () => {
    const { reaction } = (await define()).body;
    const deleted = await remove('count');
    expect([deleted.status, deleted.body]).toEqual([200, reaction]);
    for (const answer of [await remove('count'), await client.get(path('count')), await remove('never')])
      expectProblem(answer, 404, 'not_found', []);
    expectProblem(await remove('no%20name'), 422, 'validation_failed', ['name format']);
  });

  it('are those of their workspace and campaign alone', async () => {
    await define();
    const stranger = (await aWorkspace(service)).admin;
    expect(await list('', stranger)).toEqual({ items: [], nextCursor: null });
    expectProblem(await stranger.get(path('count')), 404, 'not_found', []);
    expectProblem(await remove('count', stranger), 404, 'not_found', []);
    expectProblem(await client.get(path('count', 'another')), 404, 'not_found', []);
    expect((await list()).items).toHaveLength(1);
  });

  it('need the scopes for reading and for writing', async () => {
    const reader = await workspace.client({ scopes: ['reactions:read'] });
    const writer = await workspace.client({ scopes: ['reactions:write'] });
    expectProblem(await define({}, reader), 403, 'insufficient_scope');
    expect((await define({}, writer)).status).toBe(200);
    expectProblem(await writer.get(path()), 403, 'insufficient_scope');
    expectProblem(await remove('count', reader), 403, 'insufficient_scope');
    expect((await list('', reader)).items).toHaveLength(1);
  });
});

describe('as many as there may be', () => {
  const many = (count: number, fields: (index: number) => object): Promise<Answer[]> =>
    Promise.all(
      Array.from({ length: count }, (_, index) => define({ name: `r${index}`, ...fields(index) }, nodeOf(index))),
    );

  it('are 100 of a campaign, exactly, when two nodes are sent 150 at the same time', async () => {
    const answers = await many(150, (index) => ({ eventType: `type-${index % 5}` }));
    expect(outcomes(answers)).toEqual({ '200 defined': PER_CAMPAIGN_MAX, '422 validation_failed name': 50 });
    expect((await list('?limit=200')).items).toHaveLength(PER_CAMPAIGN_MAX);
    const refused = answers.find(({ status }) => status === 422)!;
    expectProblem(refused, 422, 'validation_failed', ['name limit_exceeded']);
    const { name, eventType } = answers.find(({ status }) => status === 200)!.body.reaction;
    expect((await define({ name, eventType, enabled: false })).status).toBe(200);
    await remove(name);
    expect((await define({ name: 'one-more', eventType })).status).toBe(200);
  });

  it('are 50 to a type of events in the whole workspace, exactly, also of those that change their type', async () => {
    const answers = await many(70, () => ({}));
    expect(outcomes(answers)).toEqual({ '200 defined': PER_EVENT_TYPE_MAX, '422 validation_failed eventType': 20 });
    const winter = { scope: 'user', name: 'points', type: 'number' };
    await client.post('/v1/campaigns/winter/variables:define', winter);
    expectProblem(await define({}, client, 'winter'), 422, 'validation_failed', ['eventType limit_exceeded']);
    expect((await define({ eventType: 'refund' }, client, 'winter')).status).toBe(200);
    expectProblem(await define({}, client, 'winter'), 422, 'validation_failed', ['eventType limit_exceeded']);
  });

  it('leave one of two nodes that define the same reaction at the same moment nothing to say', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => define({}, nodeOf(index))));
    expect(outcomes(answers)).toEqual({ '200 defined': 20 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});
