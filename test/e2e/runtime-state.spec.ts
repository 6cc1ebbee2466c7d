import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, expectProblem } from '../support/client';
import { withClient } from '../support/database';
import { aCampaign, campaignOf, inc, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';
import { aTokenIssuer } from '../support/tokens';

let service: SharedApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
});

const EMPTY = { user: {}, campaign: {}, app: {} };

describe('GET /v1/runtime/state', () => {
  it('always answers the three keys and nothing else, also of a campaign that nobody knows', async () => {
    const { status, body } = await campaign.participant().get('/v1/runtime/state');
    expect([status, JSON.stringify(body)]).toEqual([200, '{"state":{"user":{},"campaign":{},"app":{}}}']);
  });

  it('shows every declared variable: its value, else its default, else null', async () => {
    const participant = campaign.participant();
    for (const scope of ['user', 'campaign', 'app']) {
      await campaign.define(`state.${scope}.set`, 'number', { default: 1 });
      await campaign.define(`state.${scope}.preset`, 'string', { default: 'preset' });
      await campaign.define(`state.${scope}.unset`, 'boolean');
      await campaign.define(`state.${scope}.off`, 'boolean', { default: false });
      await mutate(participant, [set(`state.${scope}.set`, 2)]);
    }
    const branch = { set: 2, preset: 'preset', unset: null, off: false };
    expect(await stateOf(participant)).toEqual({ user: branch, campaign: branch, app: branch });
  });

  it('gives every value back as it was set', async () => {
    const values = { number: [0, -1e-7, 5e-324, 2 ** 53, 1e15], boolean: [false, true] };
    const texts = ['', 'null', '"\\ ✓ 😀 \u2028', '__proto__', 'x'.repeat(4_096)];
    const participant = campaign.participant();
    for (const [type, list] of Object.entries({ ...values, string: texts })) {
      for (const scope of ['user', 'campaign', 'app']) {
        const path = `state.${scope}.a_${type}`;
        await campaign.define(path, type);
        for (const value of list) {
          expect((await mutate(participant, [set(path, value)])).body.mutations[0].current).toBe(value);
          expect((await stateOf(participant))[scope][`a_${type}`]).toBe(value);
        }
      }
    }
  });

  it('applies defaults when it reads and never stores them: a changed default shows at once', async () => {
    const participant = campaign.participant();
    await campaign.define('state.user.level', 'number', { default: 1 });
    await campaign.define('state.user.coins', 'number', { default: 10 });
    await mutate(participant, [inc('state.user.coins')]);
    await campaign.define('state.user.level', 'number', { default: 7 });
    await campaign.define('state.user.coins', 'number', { default: 100 });
    expect((await stateOf(participant)).user).toEqual({ level: 7, coins: 11 });
    await campaign.define('state.user.level', 'number');
    expect((await stateOf(participant)).user).toEqual({ level: null, coins: 11 });
    const stored = await withClient(service.databaseUrl, (client) =>
      client.query('SELECT values FROM participant_states WHERE tenant_id = $1', [campaign.workspace.tenantId]),
    );
    expect(stored.rows).toEqual([{ values: { coins: 11 } }]);
  });

  it('hides an archived variable, keeps its values, and shows them again when it is defined again', async () => {
    const participant = campaign.participant();
    const paths = ['user', 'campaign', 'app'].map((scope) => `state.${scope}.points`);
    for (const path of paths) await campaign.define(path, 'number', { default: 1 });
    await mutate(
      participant,
      paths.map((path) => set(path, 42)),
    );
    for (const path of paths) await campaign.archive(path);
    expect(await stateOf(participant)).toEqual(EMPTY);
    expect(summary(await mutate(participant, [inc(paths[0] ?? '')]))).toBe('400 undeclared_variable');
    for (const path of paths) await campaign.define(path, 'number');
    const branch = { points: 42 };
    expect(await stateOf(participant)).toEqual({ user: branch, campaign: branch, app: branch });
  });

  it('shows no field of the system', async () => {
    const participant = campaign.participant({ sid: 'session-of-a-token' });
    await campaign.define('state.user.points', 'number');
    await mutate(participant, [inc('state.user.points')]);
    const { body } = await participant.get('/v1/runtime/state');
    expect(body).toEqual({ state: { user: { points: 1 }, campaign: {}, app: {} } });
  });

  it('shows what a mutation changed as soon as that is answered', async () => {
    const participant = campaign.participant();
    await campaign.define('state.user.points', 'number');
    for (let points = 1; points <= 20; points += 1) {
      await mutate(participant, [inc('state.user.points')]);
      expect((await stateOf(participant)).user.points).toBe(points);
    }
  });

  it('answers each of many who ask at once with their own, in every workspace and campaign', async () => {
    const campaigns = [campaign, ...(await Promise.all([aCampaign(service), aCampaign(service)]))];
    const people = await Promise.all(
      campaigns.flatMap((each, at) => {
        return Array.from({ length: 20 }, async (_unused, number) => {
          const sub = `p-${number}`;
          if (number === 0) await each.define('state.user.points', 'number', { default: at });
          return { person: each.participant({ sub }), points: number % 3 === 0 ? undefined : at * 100 + number };
        });
      }),
    );
    for (const { person, points } of people) {
      if (points !== undefined) await mutate(person, [set('state.user.points', points)]);
    }
    for (let round = 0; round < 3; round += 1) {
      const read = await Promise.all(people.map(({ person }) => stateOf(person)));
      const expected = people.map(({ points }, index) => points ?? Math.floor(index / 20));
      expect(read.map(({ user }) => user.points)).toEqual(expected);
    }
  });

  it('takes the campaign and no other parameter', async () => {
    const participant = campaign.participant();
    for (const query of ['?app_id=default', '?user_id=x', '?limit=1']) {
      expectProblem(await participant.get(`/v1/runtime/state${query}`), 422, 'validation_failed');
    }
  });
});

describe('a value of the scope user', () => {
  it('is one participant’s in one campaign', async () => {
    const other = campaignOf(campaign.workspace, campaign.issuer);
    for (const each of [campaign, other]) await each.define('state.user.points', 'number');
    await mutate(campaign.participant({ sub: 'ann' }), [inc('state.user.points')]);
    const seen = [
      campaign.participant({ sub: 'ann' }),
      campaign.participant({ sub: 'bob' }),
      other.participant({ sub: 'ann' }),
    ];
    const states = await Promise.all(seen.map((each) => stateOf(each)));
    expect(states.map(({ user }) => user.points)).toEqual([1, null, null]);
  });

  it('belongs to the subject, whatever the issuer of the token', async () => {
    await campaign.define('state.user.points', 'number');
    const other = campaignOf(campaign.workspace, await aTokenIssuer(campaign.workspace.admin), campaign.campaignId);
    await mutate(campaign.participant({ sub: 'ann' }), [inc('state.user.points')]);
    const { body } = await mutate(other.participant({ sub: 'ann' }), [inc('state.user.points')]);
    expect(body.mutations).toEqual([{ path: 'state.user.points', previous: 1, current: 2 }]);
  });

  it('is kept apart for subjects that look alike', async () => {
    await campaign.define('state.user.name', 'string');
    const subjects = [
      'ann',
      'Ann',
      'a nn',
      'a/b',
      'a',
      'b',
      'ä',
      'a\u0308',
      '__proto__',
      '😀',
      "';--",
      '0',
      'x'.repeat(256),
    ];
    await Promise.all(subjects.map((sub) => mutate(campaign.participant({ sub }), [set('state.user.name', sub)])));
    for (const sub of subjects) expect((await stateOf(campaign.participant({ sub }))).user.name).toBe(sub);
  });
});

describe('a value of the scope campaign', () => {
  it('is shared by all participants of one campaign, whatever their app', async () => {
    const other = campaignOf(campaign.workspace, campaign.issuer);
    for (const each of [campaign, other]) await each.define('state.campaign.total', 'number');
    for (const claims of [{}, {}, { app_id: 'web' }])
      await mutate(campaign.participant(claims), [inc('state.campaign.total')]);
    expect((await stateOf(campaign.participant())).campaign.total).toBe(3);
    expect((await stateOf(other.participant())).campaign.total).toBe(null);
  });
});

describe('a value of the scope app', () => {
  it('is shared by all campaigns that declare its name, each with a default of its own', async () => {
    const other = campaignOf(campaign.workspace, campaign.issuer);
    const third = campaignOf(campaign.workspace, campaign.issuer);
    await campaign.define('state.app.visits', 'number', { default: 10 });
    await other.define('state.app.visits', 'number');
    const visits = async (of: Campaign): Promise<unknown> => (await stateOf(of.participant())).app.visits;
    expect([await visits(campaign), await visits(other)]).toEqual([10, null]);
    await mutate(campaign.participant(), [inc('state.app.visits')]);
    await mutate(other.participant(), [inc('state.app.visits')]);
    expect([await visits(campaign), await visits(other), await visits(third)]).toEqual([12, 12, undefined]);
  });

  it('is the app’s of the token, else that of the app default', async () => {
    const issuer = await aTokenIssuer(campaign.workspace.admin, { fields: { claims: { app: 'azp' } } });
    const custom = campaignOf(campaign.workspace, issuer, campaign.campaignId);
    await campaign.define('state.app.visits', 'number');
    await mutate(campaign.participant(), [set('state.app.visits', 1)]);
    await mutate(campaign.participant({ app_id: 'web' }), [set('state.app.visits', 2)]);
    const participants = [
      ...[{}, { app_id: 'default' }, { app_id: 'web' }, { app_id: 'other' }].map(campaign.participant),
      ...[{ azp: 'web' }, { app_id: 'web' }].map(custom.participant),
    ];
    const states = await Promise.all(participants.map((each) => stateOf(each)));
    expect(states.map(({ app }) => app.visits)).toEqual([1, 1, 2, null, 2, 1]);
  });
});

it('two workspaces with the same campaign, subjects, apps and mutation ids never meet', async () => {
  const sides = await Promise.all([
    aCampaign(service, { campaignId: 'same' }),
    aCampaign(service, { campaignId: 'same' }),
  ]);
  const paths = ['user', 'campaign', 'app'].map((scope) => `state.${scope}.points`);
  for (const side of sides) for (const path of paths) await side.define(path, 'number');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_unused, number) =>
      mutate(
        sides[number % 2]!.participant({ sub: 'ann' }),
        paths.map((path) => inc(path, (number % 2) + 1)),
        {
          mutation_id: `m-${number >> 1}`,
        },
      ),
    ),
  );
  expect(new Set(answers.map(summary))).toEqual(new Set(['200 applied']));
  const states = await Promise.all(sides.map((side) => stateOf(side.participant({ sub: 'ann' }))));
  expect(states).toEqual([10, 20].map((points) => ({ user: { points }, campaign: { points }, app: { points } })));
  const stranger = await aWorkspace(service);
  expectProblem(await stranger.admin.get('/v1/runtime/state'), 401, 'invalid_token');
});
