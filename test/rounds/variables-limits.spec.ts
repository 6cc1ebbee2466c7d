import { setTimeout as wait } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, type Answer, Client, expectProblem, type Workspace } from '../support/client';

/** Contract section 8. */
const PER_SCOPE_MAX = 100;
const SCOPES = ['user', 'campaign', 'app'];
const CAMPAIGN = 'summer-2026';
const ATTEMPTS_MAX = 10;

let service: TestApp;
let other: TestApp;
/** Two nodes whose scopes have room for two. */
let strict: TestApp;
let otherStrict: TestApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  [service, other] = await Promise.all([startApp(), startApp()]);
  const environment = { VARIABLES_PER_SCOPE_MAX: '2', VARIABLE_LIMIT_STATUS: '403' };
  [strict, otherStrict] = await Promise.all([startApp(environment), startApp(environment)]);
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  client = workspace.admin;
});

afterAll(() => Promise.all([service, other, strict, otherStrict].map((each) => each.stop())));

const path = (verb: string, campaign = CAMPAIGN): string => `/v1/campaigns/${campaign}/variables:${verb}`;
const aVariable = (name: string, fields = {}): object => ({ scope: 'user', name, type: 'number', ...fields });
const define = (variable: object, by = client, campaign = CAMPAIGN): Promise<Answer> =>
  untilDecided(() => by.post(path('define', campaign), variable));
const archive = (name: string, by = client): Promise<Answer> =>
  untilDecided(() => by.post(path('archive'), { scope: 'user', name }));
const on = ({ url }: TestApp): Client => new Client(url, client.key);
const nodeOf = (index: number): Client => on(index % 2 === 0 ? service : other);

/** Hundreds at once can be more than a slow machine gets done in time: 503 decides nothing, and is sent again as it says. */
async function untilDecided(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await send();
    if (answer.status !== 503 || attempt === ATTEMPTS_MAX) return answer;
    await wait(Number(answer.headers.get('retry-after')) * 1_000);
  }
}

async function namesOf(scope: string, campaign = CAMPAIGN): Promise<string[]> {
  const { variables } = (await client.get(`/v1/campaigns/${campaign}/variables`)).body;
  return variables.filter((each: any) => each.scope === scope).map(({ name }: any) => name);
}

/** How often each outcome occurs, as `status code`. */
function outcomes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = `${status} ${body.error_code ?? body.status}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const many = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe('a scope of a campaign', () => {
  it('takes exactly 100 of 300 variables that two nodes are sent at the same time', async () => {
    const answers = await many(3 * PER_SCOPE_MAX, (index) => define(aVariable(`v${index}`), nodeOf(index)));
    expect(outcomes(answers)).toEqual({
      '200 defined': PER_SCOPE_MAX,
      '409 variable_limit_exceeded': 2 * PER_SCOPE_MAX,
    });
    const refused = answers.find(({ status }) => status === 409)!;
    expectProblem(refused, 409, 'variable_limit_exceeded', []);
    expect(refused.body.message).toMatch(/100 variables in the scope user/);
    expect((await namesOf('user')).sort()).toEqual(
      answers.flatMap(({ status, body }) => (status === 200 ? body.variable.name : [])).sort(),
    );
  });
});

describe('a scope that is full', () => {
  beforeEach(async () => {
    client = on(strict);
    for (const name of ['a', 'b']) expect((await define(aVariable(name))).status).toBe(200);
  });

  it('leaves every other scope, campaign and workspace its own room', async () => {
    const stranger = new Client(strict.url, (await aWorkspace(service)).admin.key);
    const places: [string, Client, string][] = [
      ['campaign', client, CAMPAIGN],
      ['app', client, CAMPAIGN],
      ['user', client, 'another'],
      ['user', stranger, CAMPAIGN],
    ];
    for (const [scope, by, campaign] of places) {
      const answers = await many(5, (index) => define(aVariable(`v${index}`, { scope }), by, campaign));
      expect(outcomes(answers)).toEqual({ '200 defined': 2, '403 variable_limit_exceeded': 3 });
    }
  });

  it('takes redefinitions, and other types of what it has are conflicts', async () => {
    expect((await define(aVariable('a', { default: 1 }))).body.variable).toMatchObject({ name: 'a', default: 1 });
    expect(outcomes([await define(aVariable('a', { type: 'string' }))])).toEqual({ '409 variable_type_conflict': 1 });
  });

  it('has room again for one that is archived, and none for that one to come back', async () => {
    await archive('a');
    expect(outcomes([await define(aVariable('c')), await define(aVariable('a'))])).toEqual({
      '200 defined': 1,
      '403 variable_limit_exceeded': 1,
    });
    expect(await namesOf('user')).toEqual(['b', 'c']);
    await archive('b');
    expect((await define(aVariable('a'))).status).toBe(200);
    expect(await namesOf('user')).toEqual(['a', 'c']);
  });

  it('has ten times as many names, those of archived ones too, which can come back', async () => {
    const names = ['a', ...Array.from({ length: 18 }, (_, index) => `v${index}`)];
    for (const [index, name] of names.entries()) {
      await archive(name);
      const next = names[index + 1];
      if (next !== undefined) expect((await define(aVariable(next))).status).toBe(200);
    }
    const refused = await define(aVariable('one_more'));
    expectProblem(refused, 403, 'variable_limit_exceeded', []);
    expect(refused.body.message).toMatch(/20 names in the scope user/);
    expect((await define(aVariable('a'))).status).toBe(200);
  });

  it('does not take a type for a name of the scope app that it has no room for', async () => {
    for (const name of ['x', 'y']) await define(aVariable(name, { scope: 'app' }));
    expect((await define(aVariable('z', { scope: 'app' }))).status).toBe(403);
    expect((await define(aVariable('z', { scope: 'app', type: 'string' }), client, 'another')).status).toBe(200);
  });

  it('keeps what it has when the limit is lowered', async () => {
    client = on(service);
    await define(aVariable('c'));
    client = on(strict);
    expect(await namesOf('user')).toEqual(['a', 'b', 'c']);
    expect((await define(aVariable('c', { default: 1 }))).status).toBe(200);
    expect((await define(aVariable('d'))).status).toBe(403);
  });

  it('is 403 where VARIABLE_LIMIT_STATUS says so, with the same code', async () => {
    const refused = await define(aVariable('c'));
    expectProblem(refused, 403, 'variable_limit_exceeded', []);
    expect(refused.body.message).toMatch(/2 variables in the scope user/);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer realm=/);
  });

  it('gives the last room to one of two nodes that take a variable at the same moment, in each of 20 campaigns', async () => {
    const campaigns = Array.from({ length: 20 }, (_, index) => `campaign-${index}`);
    await Promise.all(campaigns.map((campaign) => define(aVariable('first'), client, campaign)));
    const last = (campaign: string): Promise<Answer[]> =>
      Promise.all([strict, otherStrict].map((node, index) => define(aVariable(`v${index}`), on(node), campaign)));
    for (const campaign of campaigns) {
      expect(outcomes(await last(campaign))).toEqual({ '200 defined': 1, '403 variable_limit_exceeded': 1 });
    }
  });

  it('never takes one too many while others are archived and come back at the same time', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const answers = await many(60, (index) => {
      const name = names[(index * 7) % names.length]!;
      const by = on(index % 2 === 0 ? strict : otherStrict);
      return index % 3 === 0 ? archive(name, by) : define(aVariable(name), by);
    });
    const seen = Object.keys(outcomes(answers)).sort();
    expect(seen.filter((outcome) => !/^(200|403 variable_limit|404 not_found)/.test(outcome))).toEqual([]);
    expect((await namesOf('user')).length).toBeLessThanOrEqual(2);
  });
});

describe('definitions at the same time', () => {
  it('of one app variable with two types in many campaigns: one type wins, and holds in all of them', async () => {
    for (const round of ['first', 'second']) {
      const answers = await many(24, (index) => {
        const type = index % 3 === 0 ? 'number' : 'string';
        return define(aVariable(round, { scope: 'app', type }), nodeOf(index), `campaign-${index}`);
      });
      const types = answers.flatMap(({ status, body }) => (status === 200 ? body.variable.type : []));
      const won = types[0] === 'number' ? 8 : 16;
      expect([new Set(types).size, outcomes(answers)]).toEqual([
        1,
        { '200 defined': won, '409 variable_type_conflict': 24 - won },
      ]);
    }
  });

  it('of one variable with two types, on two nodes in each of 20 campaigns: one type wins', async () => {
    const campaigns = Array.from({ length: 20 }, (_, index) => `campaign-${index}`);
    await Promise.all(campaigns.map((campaign) => define(aVariable('first'), client, campaign)));
    for (const campaign of campaigns) {
      const types = ['number', 'string'];
      const answers = types.map((type, index) => define(aVariable('points', { type }), nodeOf(index), campaign));
      expect(outcomes(await Promise.all(answers))).toEqual({ '200 defined': 1, '409 variable_type_conflict': 1 });
    }
  });

  it('and archivings of the same variables in the same campaigns, on two nodes, are all answered', async () => {
    const answers = await many(200, (index) => {
      const address = { scope: SCOPES[index % 3], name: `v${(index * 5) % 7}` };
      const by = nodeOf((index * 11) % 13);
      const campaign = `campaign-${(index * 3) % 4}`;
      if (index % 4 === 0) return untilDecided(() => by.post(path('archive', campaign), address));
      return define({ ...address, type: 'number', default: index }, by, campaign);
    });
    const seen = Object.keys(outcomes(answers));
    expect(seen.filter((outcome) => !['200 defined', '200 archived', '404 not_found'].includes(outcome))).toEqual([]);
  });
});
