import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, type Answer, type Client, expectProblem, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { pagesOf } from '../support/pages';

let service: SharedApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  client = workspace.admin;
});

const CAMPAIGN = 'summer-2026';
const POINTS = { scope: 'user', name: 'points', type: 'number' };

const define = (variable: object, campaign = CAMPAIGN, by = client): Promise<Answer> =>
  by.post(`/v1/campaigns/${campaign}/variables:define`, variable);
const archive = (address: object, campaign = CAMPAIGN, by = client): Promise<Answer> =>
  by.post(`/v1/campaigns/${campaign}/variables:archive`, address);
const list = async (campaign = CAMPAIGN, by = client): Promise<any[]> => {
  const { status, body } = await by.get(`/v1/campaigns/${campaign}/variables`);
  expect([status, Object.keys(body)]).toEqual([200, ['variables']]);
  return body.variables;
};
const summary = ({ status, body }: Answer): string =>
  `${status} ${body.status === status ? body.error_code : body.status}`;

describe('POST /v1/campaigns/{campaign_id}/variables:define', () => {
  it('answers 200 with the status defined and the variable, and lists it from then on', async () => {
    const wanted = { ...POINTS, default: 10.5, description: 'Loyalty points' };
    const { status, body } = await define(wanted);
    expect([status, body]).toEqual([200, { status: 'defined', variable: wanted }]);
    expect(await list()).toEqual([wanted]);
  });

  it.each(
    ['user', 'campaign', 'app'].flatMap((scope) =>
      [
        ['number', 0],
        ['number', -1e-7],
        ['number', 2 ** 53],
        ['number', -(2 ** 53)],
        ['number', 5e-324],
        ['string', ''],
        ['string', 'null'],
        ['string', '"\\ ✓ 😀 \u2028'],
        ['boolean', false],
        ['boolean', true],
      ].map(([type, value]) => [scope, type, value]),
    ),
  )(
    'takes the scope %s and the type %s with the default %j, and gives it back as it came',
    async (scope, type, value) => {
      const wanted = { scope, name: 'any', type, default: value };
      expect((await define(wanted)).body.variable).toEqual(wanted);
      expect(await list()).toEqual([wanted]);
    },
  );

  it('shows default and description only when they are set', async () => {
    for (const unset of [{}, { default: null, description: null }]) {
      expect((await define({ ...POINTS, ...unset })).body).toEqual({ status: 'defined', variable: POINTS });
    }
    expect(await list()).toEqual([POINTS]);
  });

  it('keeps one variable of each name in a scope, and the same name in each scope', async () => {
    for (const scope of ['app', 'campaign', 'user', 'user'])
      expect((await define({ ...POINTS, scope })).status).toBe(200);
    expect((await list()).map(({ scope }) => scope)).toEqual(['user', 'campaign', 'app']);
  });

  it('does nothing when it says what is so already', async () => {
    await define({ ...POINTS, default: 1 });
    const row = (): Promise<any> =>
      withClient(service.databaseUrl, async (database) => {
        const sql = 'SELECT xmin, * FROM variables WHERE tenant_id = $1';
        return (await database.query(sql, [workspace.tenantId])).rows;
      });
    const before = await row();
    expect((await define({ ...POINTS, default: 1 })).body.variable).toEqual({ ...POINTS, default: 1 });
    expect(await row()).toEqual(before);
  });

  it('is a full declaration: it changes default and description, and removes what it does not say', async () => {
    const first = { ...POINTS, default: 1, description: 'one' };
    for (const next of [first, { ...first, default: 2 }, { ...POINTS, description: 'two' }, POINTS, first]) {
      expect((await define(next)).body.variable).toEqual(next);
      expect(await list()).toEqual([next]);
    }
  });

  it('refuses another type with 409 variable_type_conflict and changes nothing', async () => {
    await define({ ...POINTS, default: 1 });
    const refused = await define({ ...POINTS, type: 'string', default: 'one' });
    expectProblem(refused, 409, 'variable_type_conflict', []);
    expect(refused.body.message).toMatch(/state\.user\.points .* number/);
    expect(await list()).toEqual([{ ...POINTS, default: 1 }]);
  });

  it('takes names that differ in nothing but case for two, and reserved names in another case', async () => {
    for (const name of ['points', 'Points', 'VERSION', 'tostring', 'SessionId']) {
      expect((await define({ ...POINTS, name })).status).toBe(200);
    }
    expect((await list()).map(({ name }) => name)).toEqual(['Points', 'SessionId', 'VERSION', 'points', 'tostring']);
  });
});

describe('a variable of the scope app', () => {
  const APP = { ...POINTS, scope: 'app' };

  it('has one type in all campaigns of the workspace, and a default in each', async () => {
    await define({ ...APP, default: 1 });
    expectProblem(await define({ ...APP, type: 'boolean' }, 'another'), 409, 'variable_type_conflict', []);
    expect(await list('another')).toEqual([]);
    expect((await define({ ...APP, default: 2 }, 'another')).status).toBe(200);
    expect([await list(), await list('another')]).toEqual([[{ ...APP, default: 1 }], [{ ...APP, default: 2 }]]);
  });

  it('keeps its type when every campaign has archived it', async () => {
    await define(APP);
    await archive(APP_ADDRESS);
    expect(summary(await define({ ...APP, type: 'string' }, 'another'))).toBe('409 variable_type_conflict');
    expect(summary(await define(APP, 'another'))).toBe('200 defined');
  });

  it('of another scope may have another type in each campaign', async () => {
    for (const scope of ['user', 'campaign']) {
      expect((await define({ ...POINTS, scope })).status).toBe(200);
      expect((await define({ ...POINTS, scope, type: 'string' }, 'another')).status).toBe(200);
    }
  });

  const APP_ADDRESS = { scope: APP.scope, name: APP.name };
});

describe('GET /v1/campaigns/{campaign_id}/variables', () => {
  it('answers an empty list for a campaign that nobody knows', async () => {
    expect(await list('never-heard-of')).toEqual([]);
  });

  it('lists all scopes without pages: user, campaign, app, then by name', async () => {
    const names = ['b', 'B', 'a10', 'a2', 'A', 'a_', 'aA'];
    for (const scope of ['app', 'user', 'campaign']) {
      await Promise.all(names.map((name) => define({ ...POINTS, scope, name })));
    }
    const sorted = ['A', 'B', 'a10', 'a2', 'aA', 'a_', 'b'];
    const wanted = ['user', 'campaign', 'app'].flatMap((scope) => sorted.map((name) => `${scope}.${name}`));
    expect((await list()).map(({ scope, name }) => `${scope}.${name}`)).toEqual(wanted);
  });

  it('shows one campaign only, and no campaign of another workspace by the same name', async () => {
    await define(POINTS);
    const stranger = (await aWorkspace(service)).admin;
    expect([await list('another'), await list(CAMPAIGN, stranger)]).toEqual([[], []]);
    const theirs = { ...POINTS, type: 'string', default: 'theirs' };
    expect((await define(theirs, CAMPAIGN, stranger)).status).toBe(200);
    expect(await list()).toEqual([POINTS]);
    expect(summary(await archive({ scope: 'user', name: 'points' }, CAMPAIGN, stranger))).toBe('200 archived');
    expect(await list()).toEqual([POINTS]);
  });

  it('lets workspaces give a name of the scope app different types', async () => {
    const stranger = (await aWorkspace(service)).admin;
    expect((await define({ ...POINTS, scope: 'app' })).status).toBe(200);
    expect((await define({ ...POINTS, scope: 'app', type: 'string' }, CAMPAIGN, stranger)).status).toBe(200);
  });
});

describe('POST /v1/campaigns/{campaign_id}/variables:archive', () => {
  const ADDRESS = { scope: 'user', name: 'points' };

  it('answers 200 with the status archived and the variable, and takes it out of the list', async () => {
    await define({ ...POINTS, default: 1 });
    await define({ ...POINTS, name: 'other' });
    const { status, body } = await archive(ADDRESS);
    expect([status, body]).toEqual([200, { status: 'archived', variable: { ...POINTS, default: 1 } }]);
    expect(await list()).toEqual([{ ...POINTS, name: 'other' }]);
  });

  it('is idempotent', async () => {
    await define(POINTS);
    const first = await archive(ADDRESS);
    const again = await archive(ADDRESS);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(await list()).toEqual([]);
  });

  it('answers 404 for what was never declared: by another name, in another scope or in another campaign', async () => {
    expectProblem(await archive(ADDRESS), 404, 'not_found', []);
    await define(POINTS);
    expect(summary(await archive({ ...ADDRESS, name: 'point' }))).toBe('404 not_found');
    expect(summary(await archive({ ...ADDRESS, scope: 'app' }))).toBe('404 not_found');
    expect(summary(await archive(ADDRESS, 'another'))).toBe('404 not_found');
  });

  it('is undone by defining the variable again, with its type only', async () => {
    await define({ ...POINTS, default: 1, description: 'one' });
    await archive(ADDRESS);
    expect(summary(await define({ ...POINTS, type: 'boolean' }))).toBe('409 variable_type_conflict');
    expect(await list()).toEqual([]);
    expect((await define({ ...POINTS, default: 2 })).body).toEqual({
      status: 'defined',
      variable: { ...POINTS, default: 2 },
    });
    expect(await list()).toEqual([{ ...POINTS, default: 2 }]);
  });

  it('takes a scope and a name and nothing else, and names every fault', async () => {
    const wrong = { scope: 'users', name: '1', type: 'number' };
    expectProblem(await archive(wrong), 422, 'validation_failed', ['scope enum', 'name format', 'type unknown_field']);
    expectProblem(await archive({}), 422, 'validation_failed', ['scope required', 'name required']);
  });
});

describe('variables', () => {
  it('are written with variables:write only, and read with variables:read only', async () => {
    const [writer, reader] = await Promise.all(
      (['variables:write', 'variables:read'] as const).map((scope) => workspace.client({ scopes: [scope] })),
    );
    expect(summary(await define(POINTS, CAMPAIGN, reader))).toBe('403 insufficient_scope');
    expect(summary(await define(POINTS, CAMPAIGN, writer))).toBe('200 defined');
    expect(await list(CAMPAIGN, reader)).toEqual([POINTS]);
    expect((await writer!.get(`/v1/campaigns/${CAMPAIGN}/variables`)).status).toBe(403);
    expect(summary(await archive({}, CAMPAIGN, reader))).toBe('403 insufficient_scope');
  });

  it.each(['a b', '-a', 'é', 'x'.repeat(129), 'a%00'])('are refused of the campaign %j', async (campaign) => {
    const faults = ['campaign_id format'];
    const path = encodeURIComponent(campaign);
    expectProblem(await define(POINTS, path), 422, 'validation_failed', faults);
    expectProblem(await archive({ scope: 'user', name: 'a' }, path), 422, 'validation_failed', faults);
    expectProblem(await client.get(`/v1/campaigns/${path}/variables`), 422, 'validation_failed', faults);
  });

  it('are defined at a path that ends in a colon and a word, however the colon is written, and at no other', async () => {
    const at = async (end: string): Promise<number> =>
      (await client.post(`/v1/campaigns/${CAMPAIGN}/variables${end}`, POINTS)).status;
    expect([await at('%3Adefine'), await at('%3adefine')]).toEqual([200, 200]);
    expect([await at('Xdefine'), await at(':defined'), await at('/define'), await at(':')]).toEqual([
      404, 404, 404, 404,
    ]);
    expect(await at('')).toBe(405);
  });
});

describe('GET /v1/campaigns', () => {
  const PATH = '/v1/campaigns';

  it('lists campaigns, the newest first, with what is in force in each', async () => {
    expect((await client.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    for (const scope of ['user', 'campaign', 'app']) await define({ ...POINTS, scope }, 'spring');
    await define(POINTS, 'summer');
    await define({ ...POINTS, name: 'visits' }, 'summer');
    await archive({ scope: 'user', name: 'visits' }, 'summer');
    const ops = [{ path: 'state.user.points', op: 'inc', value: 1 }];
    for (const name of ['one', 'two']) {
      const reaction = { name, eventType: 'purchase', ops, enabled: name === 'one' };
      expect((await client.post(`${PATH}/spring/reactions:define`, reaction)).status).toBe(200);
    }
    const createdAt = expect.stringMatching(/Z$/);
    expect((await client.get(PATH)).body).toEqual({
      items: [
        { campaignId: 'summer', variables: 1, reactions: 0, createdAt },
        { campaignId: 'spring', variables: 3, reactions: 2, createdAt },
      ],
      nextCursor: null,
    });
  });

  it('lists a campaign whose variables are all archived, and none that was only asked for', async () => {
    await define(POINTS);
    await archive({ scope: 'user', name: 'points' });
    await client.get(`${PATH}/autumn/variables`);
    const { items } = (await client.get(PATH)).body;
    expect(items).toMatchObject([{ campaignId: CAMPAIGN, variables: 0, reactions: 0 }]);
  });

  it.each([1, 2, 5])('shows each campaign once, %i at a time, while others begin', async (limit) => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await define(POINTS, id);
    let late = 0;
    const pages = await pagesOf(client, `${PATH}?limit=${limit}`, () => define(POINTS, `late-${(late += 1)}`));
    expect(pages.flat().map(({ campaignId }) => campaignId)).toEqual(ids.toReversed());
  });

  it('pages through campaigns that began in the same millisecond', async () => {
    for (const id of ['a', 'b', 'c']) await define(POINTS, id);
    await withClient(service.databaseUrl, (database) =>
      database.query(`UPDATE campaigns SET created_at = '2026-01-01T00:00:00Z' WHERE tenant_id = $1`, [
        workspace.tenantId,
      ]),
    );
    const pages = await pagesOf(client, `${PATH}?limit=1`);
    expect(pages.flat().map(({ campaignId }) => campaignId)).toEqual(['c', 'b', 'a']);
  });

  it('needs variables:read, and takes no cursor that it did not give', async () => {
    await define(POINTS);
    const reader = await workspace.client({ scopes: ['variables:read'] });
    expect((await reader.get(PATH)).body.items).toHaveLength(1);
    const other = await workspace.client({ scopes: ['state:read'] });
    expectProblem(await other.get(PATH), 403, 'insufficient_scope');
    expectProblem(await client.get(`${PATH}?cursor=x`), 422, 'validation_failed', ['cursor format']);
  });
});
