import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import { parse } from 'yaml';
import { cliProgram } from '../../src/cli/program';
import { ClientFailure } from '../../src/cli/running-service';
import { ConfigurationFile } from '../../src/cli/configuration/configuration-file';
import type { KindPlan } from '../../src/cli/configuration/configuration-plan';
import { WorkspaceConfiguration } from '../../src/cli/configuration/workspace-configuration';
import { operatorOf } from '../../src/cli/workspace-scope';
import { startApp, type TestApp } from '../support/app';
import { runCds, startCds } from '../support/cds';
import { Client } from '../support/client';
import { rowsOf } from '../support/database';
import { aTenant } from '../support/tenant';

const ROOT = join(__dirname, '..', '..');
const SCHEMA = join(ROOT, 'src', 'cli', 'configuration', 'configuration.schema.json');
const JWKS = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      kid: '1',
      x: 'WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis',
      y: 'y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE',
    },
  ],
};

/** Of the service under test, which `startApp` gives it. */
const SECRETS_KEY = 'a-secrets-key-for-tests-of-40-characters';

interface Result {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

interface Workspace {
  readonly name: string;
  readonly tenantId: string;
  readonly client: Client;
  /** Runs a command of configuration; `text` is the content of its file. */
  run(command: 'export' | 'plan' | 'apply', text?: string | null, ...further: readonly string[]): Promise<Result>;
}

/** The configuration of every kind, with names that a file has to quote. */
const EVERYTHING = `
version: 1
eventTypes:
  - eventType: purchase
    description: "A customer bought something: yes"
    properties:
      amount: { type: number, required: true }
      channel: { type: string, enum: [web, "no", "1"] }
      "odd key": { type: boolean, pii: true }
  - eventType: old
    properties: {}
    additionalProperties: allow
    deprecated: true
variables:
  - { campaignId: spring, scope: user, name: points, type: number, default: 0, min: 0, max: 1000 }
  - { campaignId: spring, scope: user, name: today, type: number, period: { every: day, timezone: Europe/Berlin } }
  - { campaignId: summer, scope: app, name: title, type: string, default: "on", description: shown above }
reactions:
  - campaignId: spring
    name: count
    eventType: purchase
    source: shop
    when: { ">=": [{ var: event.properties.amount }, 20] }
    ops: [{ path: state.user.points, op: inc, value: 10, onLimit: clamp }]
  - campaignId: spring
    name: off
    eventType: purchase
    ops: [{ path: state.user.today, op: inc, valueFrom: properties.amount }]
    enabled: false
webhooks:
  - url: https://hooks.example.com/one
    description: loyalty
    events: [{ eventType: purchase, source: shop }, { change: { scope: user, name: points, campaignId: spring } }]
  - url: https://hooks.example.com/one
    events: [{ eventType: signup }]
    algorithm: ed25519
    enabled: false
    unmask: true
issuers:
  - issuer: https://login.example.com/
    audience: campaigns
    jwksUri: https://login.example.com/.well-known/jwks.json
    algorithms: [ES256]
    claims: { app: azp }
    allowedCampaignIds: [spring, summer]
  - issuer: https://other.example.com/
    audience: campaigns
    jwks: ${JSON.stringify(JWKS)}
    clockToleranceSeconds: 9
retention:
  eventDays: 400
`;

let service: TestApp;
let folder: string;
let files = 0;

beforeAll(async () => {
  service = await startApp();
  folder = await mkdtemp(join(tmpdir(), 'cds-configuration-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function aWorkspace(): Promise<Workspace> {
  const { name, tenantId, adminKey } = await aTenant(service.databaseUrl);
  const run: Workspace['run'] = async (command, text = null, ...further) => {
    const file = join(folder, `${(files += 1)}.yaml`);
    if (text !== null) await writeFile(file, text);
    const args = text === null ? [] : ['-f', file, ...(command === 'apply' ? ['--yes'] : [])];
    return runCommand([command, '-w', name, ...args, ...further]);
  };
  return { name, tenantId, client: new Client(service.url, adminKey), run };
}

/** A command in this process, with the exit code that its program would have. */
async function runCommand(args: readonly string[]): Promise<Result> {
  const [out, said]: [string[], string[]] = [[], []];
  const program = cliProgram({
    out: (text) => out.push(text),
    say: (words) => said.push(words),
    within: (work) => work(service.app),
    onDatabase: () => Promise.reject(new Error('Not a command of the whole database')),
  });
  const failure: unknown = await program.parseAsync(['node', 'cds', ...args]).catch((error: unknown) => error);
  const isFailure = failure instanceof ClientFailure;
  if (!isFailure && failure instanceof Error) throw failure;
  return {
    code: isFailure ? failure.exitCode : 0,
    out: out.join('\n'),
    said: [...said, ...(isFailure ? [failure.message] : [])].join('\n'),
  };
}

async function applied(workspace: Workspace, text: string, ...further: readonly string[]): Promise<Result> {
  const result = await workspace.run('apply', text, ...further);
  expect(result).toMatchObject({ code: 0 });
  return result;
}

/** What a plan says, and that the command ends with 2. */
async function planned(workspace: Workspace, text: string, ...further: readonly string[]): Promise<string> {
  const { code, out } = await workspace.run('plan', text, ...further);
  expect(code).toBe(2);
  return out;
}

const anEventType = (properties: object, name = 'purchase'): string =>
  `version: 1\neventTypes: ${JSON.stringify([{ eventType: name, properties }])}\n`;

describe('cds export, plan and apply', () => {
  it('bring the configuration of one workspace to an empty one, and export the same text there', async () => {
    const [one, other] = [await aWorkspace(), await aWorkspace()];
    expect((await planned(one, EVERYTHING)).match(/^\+ /gm)).toHaveLength(11);
    await applied(one, EVERYTHING);
    const { out: exported } = await one.run('export');
    expect(parse(exported)).toEqual({
      ...parse(EVERYTHING),
      eventTypes: parse(EVERYTHING).eventTypes.toReversed(),
    });
    expect((await one.run('plan', EVERYTHING)).code).toBe(0);

    await applied(other, exported);
    expect((await other.run('export')).out).toBe(exported);
    const again = await other.run('plan', exported, '--prune');
    expect(again).toMatchObject({ code: 0, out: '' });
    expect((await other.client.get('/v1/campaigns/spring/variables')).body.variables).toHaveLength(2);
    const [disabled] = (await other.client.get('/v1/webhooks')).body.items;
    expect(disabled).toMatchObject({ enabled: false, algorithm: 'ed25519', unmask: true });
    expect((await other.client.get('/v1/retention')).body).toMatchObject({ eventDays: 400, changedBy: 'command line' });
  });

  it('change what differs, keep what the file does not name, and then plan nothing', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, EVERYTHING);
    const [secondBefore, firstBefore] = (await workspace.client.get('/v1/webhooks')).body.items;
    const [newIssuer, oldIssuer] = (await workspace.client.get('/v1/jwt-issuers')).body.items;
    const changed = `
version: 1
eventTypes:
  - { eventType: purchase, properties: { amount: { type: number }, channel: { type: string }, odd key: { type: boolean, pii: true } } }
variables:
  - { campaignId: spring, scope: user, name: points, type: number, default: 5, min: 0, max: 2000 }
  - { campaignId: summer, scope: user, name: visits, type: number }
reactions:
  - { campaignId: summer, name: visit, eventType: visit, ops: [{ path: state.user.visits, op: inc, value: 1 }] }
webhooks:
  - { url: "https://hooks.example.com/one", events: [{ eventType: purchase }] }
issuers:
  - { issuer: "https://login.example.com/", audience: campaigns, jwksUri: "https://login.example.com/keys" }
retention: { eventDays: null }
`;
    const out = await planned(workspace, changed);
    expect(out).toContain('~ variables spring/user/points\n    default: 0 → 5\n    max: 1000 → 2000');
    expect(out).toContain('    properties.amount.required: true → none');
    expect(out).toContain('~ retention events\n    eventDays: 400 → null');
    expect(out).not.toMatch(/^- /m);
    await applied(workspace, changed);
    expect(await workspace.run('plan', changed)).toMatchObject({ code: 0, out: '' });

    const { items: webhooks } = (await workspace.client.get('/v1/webhooks')).body;
    expect(webhooks).toEqual([
      secondBefore,
      expect.objectContaining({ id: firstBefore.id, events: [{ eventType: 'purchase' }] }),
    ]);
    expect(webhooks[1]).not.toHaveProperty('description', 'loyalty');
    const { items: issuers } = (await workspace.client.get('/v1/jwt-issuers')).body;
    const all = { jwksUri: 'https://login.example.com/keys', allowedCampaignIds: null };
    expect(issuers).toEqual([
      newIssuer,
      {
        ...oldIssuer,
        ...all,
        algorithms: ['RS256', 'PS256', 'ES256'],
        claims: { campaign: 'campaign_id', app: 'app_id' },
      },
    ]);
    const { versions } = (await workspace.client.get('/v1/cdp/event-types/purchase')).body;
    expect(versions).toHaveLength(2);
    expect((await workspace.client.get('/v1/campaigns/spring/reactions')).body.items).toHaveLength(2);
  });

  it('archive with --prune what the kinds of the file have besides, and leave kinds that it does not name', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, EVERYTHING);
    const pruned = 'version: 1\neventTypes: []\nvariables:\nreactions: []\nwebhooks: []\nissuers: []\n';
    const kept = await workspace.run('plan', 'version: 1\nvariables: []\n');
    expect(kept).toMatchObject({ code: 0, out: '' });
    const only = await planned(workspace, 'version: 1\nreactions: []\n', '--prune');
    expect(only.match(/^[-+~] .*$/gm)).toEqual(['- reactions spring/count (disable)']);

    expect((await planned(workspace, pruned, '--prune')).match(/^[-+~] .*$/gm)).toEqual([
      '- eventTypes purchase (deprecate)',
      '- variables spring/user/points (archive)',
      '- variables spring/user/today (archive)',
      '- variables summer/app/title (archive)',
      '- reactions spring/count (disable)',
      '- webhooks https://hooks.example.com/one (disable)',
      '- issuers https://login.example.com/ campaigns (delete)',
      '- issuers https://other.example.com/ campaigns (delete)',
    ]);
    const { said } = await applied(workspace, pruned, '--prune');
    // Reactions before the variables that they need.
    expect(said.indexOf('reactions: 1')).toBeLessThan(said.indexOf('variables: 3'));
    expect(await workspace.run('plan', pruned, '--prune')).toMatchObject({ code: 0, out: '' });
    expect((await workspace.client.get('/v1/cdp/event-types/purchase')).body.deprecatedAt).not.toBeNull();
    expect((await workspace.client.get('/v1/campaigns/spring/variables')).body.variables).toEqual([]);
    const { items: reactions } = (await workspace.client.get('/v1/campaigns/spring/reactions')).body;
    expect(reactions.map(({ enabled }: any) => enabled)).toEqual([false, false]);
    const { items: webhooks } = (await workspace.client.get('/v1/webhooks')).body;
    expect(webhooks.map(({ enabled }: any) => enabled)).toEqual([false, false]);
    expect((await workspace.client.get('/v1/jwt-issuers')).body.items).toEqual([]);
    expect((await workspace.client.get('/v1/retention')).body.eventDays).toBe(400);

    // What was archived comes back, with the value that it had.
    await applied(workspace, EVERYTHING);
    expect((await workspace.client.get('/v1/campaigns/spring/variables')).body.variables).toHaveLength(2);
  });

  it('show each break of an event type, and apply breaks only if that is said', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, anEventType({ amount: { type: 'number' }, note: { type: 'string' } }));
    const breaking = anEventType({ amount: { type: 'string', required: true } });
    const out = await planned(workspace, breaking);
    expect(out.match(/^ {4}breaks: .*$/gm)).toEqual([
      '    breaks: properties.amount was number and becomes string.',
      '    breaks: properties.amount was optional and becomes required.',
      '    breaks: properties.note is no longer declared; keep it as an optional property.',
    ]);
    const refused = await workspace.run('apply', breaking);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('--allow-breaking') });
    expect((await workspace.client.get('/v1/cdp/event-types/purchase')).body.versions).toHaveLength(1);
    await applied(workspace, breaking, '--allow-breaking');
    expect((await workspace.run('plan', breaking)).code).toBe(0);
  });

  it('change all records of a kind or none', async () => {
    const workspace = await aWorkspace();
    const type = (name: string, type: string) => ({ campaignId: 'spring', scope: 'user', name, type });
    const file = (...variables: object[]): string =>
      `version: 1\neventTypes: [{ eventType: a, properties: {} }]\nvariables: ${JSON.stringify(variables)}\n`;
    await workspace.client.post('/v1/campaigns/spring/variables:define', { scope: 'user', name: 'z', type: 'string' });
    await workspace.client.post('/v1/campaigns/spring/variables:archive', { scope: 'user', name: 'z' });
    // An archived variable keeps its type; only the transaction finds it.
    const refused = await workspace.run('apply', file(type('a', 'number'), type('z', 'number')));
    expect(refused.code).toBe(1);
    expect(refused.said).toMatch(/eventTypes: 1 change applied\.\nvariables: .* with the type string/);
    expect((await workspace.client.get('/v1/campaigns/spring/variables')).body.variables).toEqual([]);
    const corrected = file(type('a', 'number'), type('z', 'string'));
    expect(await planned(workspace, corrected)).not.toContain('eventTypes');
    await applied(workspace, corrected);
  });

  it('let campaigns change together what they have to agree on', async () => {
    const workspace = await aWorkspace();
    const file = (max: number): string => {
      const variables = ['spring', 'summer'].map((campaignId) => {
        return { campaignId, scope: 'app', name: 'budget', type: 'number', max };
      });
      return `version: 1\nvariables: ${JSON.stringify(variables)}\n`;
    };
    await applied(workspace, file(10));
    await applied(workspace, file(20));
    const [, one] = file(30).split('variables: ');
    const alone = `version: 1\nvariables: ${JSON.stringify(JSON.parse(one ?? '').slice(0, 1))}\n`;
    const refused = await workspace.run('apply', alone);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('Another campaign declares') });
  });

  it('refuse limits that stored values are outside of', async () => {
    const workspace = await aWorkspace();
    const file = (max: number): string =>
      `version: 1\nvariables: [{ campaignId: spring, scope: user, name: points, type: number, max: ${max} }]\n`;
    await applied(workspace, file(100));
    const path = '/v1/campaigns/spring/participants/ann/state:mutate';
    const mutated = await workspace.client.post(path, { ops: [{ path: 'state.user.points', op: 'set', value: 60 }] });
    expect(mutated.status).toBe(200);
    const refused = await workspace.run('apply', file(50));
    expect(refused.code).toBe(1);
    expect((await workspace.run('plan', file(100))).code).toBe(0);
    await applied(workspace, file(60));
  });

  it.each<[string, string, string]>([
    ['eventTypes', '[{ eventType: a, properties: {} }]', '[{ eventType: a, properties: { x: { type: string } } }]'],
    [
      'variables',
      '[{ campaignId: c, scope: user, name: a, type: number }]',
      '[{ campaignId: c, scope: user, name: a, type: number, default: 7 }]',
    ],
    [
      'reactions',
      '[{ campaignId: c, name: a, eventType: a, ops: [{ path: state.user.base, op: inc, value: 1 }] }]',
      '[{ campaignId: c, name: a, eventType: a, ops: [{ path: state.user.base, op: inc, value: 7 }] }]',
    ],
    [
      'webhooks',
      '[{ url: "https://hooks.example.com/", events: [{ eventType: a }] }]',
      '[{ url: "https://hooks.example.com/", events: [{ eventType: b }] }]',
    ],
    [
      'issuers',
      '[{ issuer: "https://a.example.com/", audience: a, jwksUri: "https://a.example.com/keys" }]',
      '[{ issuer: "https://a.example.com/", audience: a, jwksUri: "https://b.example.com/keys" }]',
    ],
    ['retention', '{ eventDays: 100 }', '{ eventDays: 200 }'],
  ])('refuse to overwrite what was made or changed since the plan: %s', async (kind, first, second) => {
    const workspace = await aWorkspace();
    await applied(workspace, 'version: 1\nvariables: [{ campaignId: c, scope: user, name: base, type: number }]');
    const configuration = new WorkspaceConfiguration(service.app, await operatorOf(service.app, workspace.name));
    const file = (entries: string) => ConfigurationFile.parse('acme.yaml', `version: 1\n${kind}: ${entries}`);
    const apply = (plans: readonly KindPlan[]) =>
      configuration.apply(plans, { allowBreaking: false, done: () => undefined });
    const refusal = new RegExp(`^${kind}: .* was changed by somebody else[^]*No change of ${kind} was applied`);

    const planned = await configuration.plan(file(first), { prunes: false });
    await applied(workspace, `version: 1\n${kind}: ${second}`);
    const between = (await workspace.run('export')).out;
    await expect(apply(planned)).rejects.toThrow(refusal);
    expect((await workspace.run('export')).out).toBe(between);

    const changing = await configuration.plan(file(first), { prunes: false });
    await applied(workspace, `version: 1\n${kind}: ${first}`);
    await applied(workspace, `version: 1\n${kind}: ${kind === 'retention' ? '{ eventDays: 300 }' : second}`);
    if (kind === 'retention') await expect(apply(changing)).rejects.toThrow(refusal);
    // It is again as the plan saw it.
    else await apply(changing);
    expect((await workspace.run('plan', `version: 1\n${kind}: ${first}`)).code).toBe(kind === 'retention' ? 2 : 0);
  });

  it('never make anything twice, however many apply one file at once', async () => {
    const workspace = await aWorkspace();
    const results = await Promise.all(Array.from({ length: 3 }, () => workspace.run('apply', EVERYTHING)));
    for (const { code, said } of results) {
      if (code !== 0) expect(said).toMatch(/was changed by somebody else since the plan was made|registered already/);
    }
    if (!results.some(({ code }) => code === 0)) await applied(workspace, EVERYTHING);
    expect(await workspace.run('plan', EVERYTHING, '--prune')).toMatchObject({ code: 0, out: '' });
    expect((await workspace.client.get('/v1/webhooks')).body.items).toHaveLength(2);
    expect((await workspace.client.get('/v1/jwt-issuers')).body.items).toHaveLength(2);
    expect((await workspace.client.get('/v1/cdp/event-types/purchase')).body.versions).toHaveLength(1);
  });

  it('touch no other workspace', async () => {
    const [one, other] = [await aWorkspace(), await aWorkspace()];
    await applied(other, EVERYTHING);
    const before = (await other.run('export')).out;
    await applied(one, EVERYTHING);
    await applied(
      one,
      'version: 1\nvariables: []\nwebhooks: []\nissuers: []\neventTypes: []\nreactions: []',
      '--prune',
    );
    expect((await other.run('export')).out).toBe(before);
    const missing = runCommand(['export', '-w', 'nowhere']);
    await expect(missing).rejects.toThrow(/no workspace "nowhere"/);
  });
});

describe('secrets', () => {
  it('are in no export and no plan, and survive a change of their issuer', async () => {
    const workspace = await aWorkspace();
    const pair = { issuer: 'https://shared.example.com/', audience: 'a' };
    const secret = 'a shared secret of an issuer, for HS256';
    await workspace.client.post('/v1/jwt-issuers', { ...pair, secret });
    await applied(
      workspace,
      'version: 1\nwebhooks: [{ url: "https://hooks.example.com/", events: [{ eventType: a }] }]',
    );
    const { out } = await workspace.run('export');
    expect(parse(out).issuers).toEqual([{ ...pair, keySource: 'secret' }]);
    expect(out).not.toMatch(/whsec|shared secret/);
    const stored = () =>
      rowsOf(service.databaseUrl, 'SELECT secret FROM jwt_issuers WHERE tenant_id = $1', [workspace.tenantId]);
    const before = await stored();
    await applied(workspace, out.replace('keySource: secret', 'keySource: secret\n    clockToleranceSeconds: 30'));
    expect(await stored()).toEqual(before);

    const other = await aWorkspace();
    const refused = await other.run('plan', out);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('cds issuers create --secret-file') });
    const told = await other.run('plan', `version: 1\nissuers: [${JSON.stringify({ ...pair, secret })}]`);
    expect(told).toMatchObject({ code: 1, said: expect.stringContaining(':2:') });
    expect(told.said).not.toContain('a shared secret');
  });
});

describe('a file that is wrong', () => {
  it.each<[string, string, RegExp]>([
    ['text that is no YAML', 'version: 1\neventTypes: [', /:2:\d+: /],
    ['two fields of one name', 'version: 1\nversion: 1', /:2:1: Map keys must be unique/],
    ['no version', 'eventTypes: []', /:1:1: version must be 1/],
    ['another version', 'version: 2', /:1:10: version must be 1/],
    [
      'an unknown kind',
      'version: 1\nvariabels: []',
      /:2:1: variabels is not a kind of configuration\. Did you mean variables\?/,
    ],
    ['no list', 'version: 1\nreactions: { name: a }', /:2:12: reactions must be a list/],
    [
      'an unknown field',
      anEventType({ a: { type: 'string', requird: true } }),
      /:2:\d+: .*requird.*Did you mean required\?/,
    ],
    [
      'a wrong type',
      'version: 1\nvariables:\n  - campaignId: a\n    scope: user\n    name: b\n    type: text',
      /:6:11: type/,
    ],
    [
      'a missing field',
      'version: 1\nvariables:\n  - { scope: user, name: b, type: number }',
      /:3:5: campaignId is required/,
    ],
    [
      'a number that JSON does not have',
      'version: 1\nretention: { eventDays: .inf }',
      /:2:25: eventDays must be a finite/,
    ],
    ['days out of range', 'version: 1\nretention:\n  eventDays: 3', /:3:14: eventDays/],
    [
      'two records of one name',
      'version: 1\neventTypes:\n  - { eventType: a, properties: {} }\n  - { eventType: a, properties: {} }',
      /:4:5: eventTypes has a already/,
    ],
    [
      'force, which is an option',
      'version: 1\neventTypes: [{ eventType: a, properties: {}, force: true }]',
      /:2:46: force is not a field/,
    ],
    [
      'an undeprecated type',
      'version: 1\neventTypes: [{ eventType: a, properties: {}, deprecated: false }]',
      /deprecated must be true, or absent/,
    ],
    [
      'a reaction to variables that nobody declares',
      'version: 1\nreactions:\n  - campaignId: a\n    name: b\n    eventType: c\n    ops:\n      - { path: state.user.x, op: inc, value: 1 }',
      /:7:\d+: ops\[0\]\.path/,
    ],
    [
      'a webhook to a private address',
      'version: 1\nwebhooks: [{ url: "https://127.0.0.1/", events: [{ eventType: a }] }]',
      /:2:\d+: url/,
    ],
    [
      'aliases that multiply',
      `version: 1\nx: &a [1]\n${'x'.repeat(1)}2: &b [${'*a,'.repeat(60)}]\ny: [${'*b,'.repeat(60)}]`,
      /aliases/,
    ],
  ])('is refused with line and column: %s', async (_, text, words) => {
    const workspace = await aWorkspace();
    const { code, said, out } = await workspace.run('plan', text);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(said).toMatch(words);
  });

  it('is refused with all faults, in their order', async () => {
    const workspace = await aWorkspace();
    const text = 'version: 1\nretention: { days: 3 }\nvariables: [{}]\neventTypes: [{ eventType: "-" }]';
    const { said } = await workspace.run('plan', text);
    const faults = said.split('\n').flatMap((line) => {
      const [, lineNumber, field] = /:(\d+):\d+: (\w+)/.exec(line) ?? [];
      return lineNumber === undefined ? [] : [`${lineNumber} ${field}`];
    });
    const missing = ['2 days', '3 campaignId', '3 name', '3 scope', '3 type', '4 eventType', '4 properties'];
    expect(faults.toSorted()).toEqual(missing);
    expect(faults.map((each) => each[0])).toEqual(missing.map((each) => each[0]));
  });

  it('is refused beyond its size, and where there is none', async () => {
    const workspace = await aWorkspace();
    const large = await workspace.run('plan', `version: 1\n# ${'x'.repeat(5 * 1024 * 1024)}`);
    expect(large).toMatchObject({ code: 1, said: expect.stringContaining('larger than 5 MiB') });
    const missing = await runCommand(['plan', '-w', workspace.name, '-f', join(folder, 'nowhere.yaml')]);
    expect(missing).toMatchObject({ code: 1, said: expect.stringContaining('cannot be read (ENOENT)') });
  });

  it('is not applied without an answer', async () => {
    const workspace = await aWorkspace();
    const file = join(folder, 'unanswered.yaml');
    await writeFile(file, EVERYTHING);
    const refused = await runCommand(['apply', '-w', workspace.name, '-f', file]);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('--yes') });
    expect((await workspace.run('plan', EVERYTHING)).out).toMatch(/^\+ eventTypes/);
  });
});

describe('cds as a program', () => {
  const environment = (): Record<string, string> => ({ DATABASE_URL: service.databaseUrl, SECRETS_KEY });

  it('goes on where a killed one was, and ends with 2 if something would change', async () => {
    const workspace = await aWorkspace();
    const file = join(folder, 'killed.yaml');
    await writeFile(file, EVERYTHING);
    const { child, ended } = startCds(environment(), ['apply', '-w', workspace.name, '-f', file, '--yes']);
    child.stderr?.on('data', (words: Buffer) => {
      if (words.includes('variables: 3 changes applied.')) child.kill('SIGKILL');
    });
    await ended;
    expect((await workspace.client.get('/v1/campaigns/spring/variables')).body.variables).toHaveLength(2);
    const left = await runCds(environment(), ['plan', '-w', workspace.name, '-f', file]);
    expect(left.out).not.toMatch(/eventTypes|variables/);
    expect(left.code).toBe(left.out === '' ? 0 : 2);
    await applied(workspace, EVERYTHING);
    expect(await workspace.run('plan', EVERYTHING, '--prune')).toMatchObject({ code: 0, out: '' });
    expect((await workspace.client.get('/v1/webhooks')).body.items).toHaveLength(2);
  });

  it('ends with 1 for a wrong option of plan, so that 2 has one meaning', async () => {
    const ran = await runCds({}, ['plan', '--nonsense']);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect((await runCds({}, ['apply', '--nonsense'])).code).toBe(2);
  });
});

describe('the plan as JSON', () => {
  it('holds each change with its fields, breaks and both records', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, anEventType({ a: { type: 'number' } }));
    const { code, out } = await workspace.run('plan', anEventType({ a: { type: 'string' } }), '--json');
    expect(code).toBe(2);
    expect(JSON.parse(out)).toEqual({
      workspace: workspace.name,
      changes: [
        {
          kind: 'eventTypes',
          action: 'change',
          key: 'purchase',
          fields: [{ path: 'properties.a.type', before: 'number', after: 'string' }],
          breaks: [expect.objectContaining({ path: 'properties.a', code: 'property_type_changed' })],
          notes: [],
          before: { eventType: 'purchase', properties: { a: { type: 'number' } } },
          after: { eventType: 'purchase', properties: { a: { type: 'string' } } },
        },
      ],
    });
    const none = await workspace.run('plan', 'version: 1', '--json');
    expect([none.code, JSON.parse(none.out)]).toEqual([0, { workspace: workspace.name, changes: [] }]);
  });
});

describe('the JSON Schema of the file', () => {
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'));
  const isValid = new Ajv2020({ strict: false, formats: {} }).compile(schema);

  it('is made of the OpenAPI document (npm run openapi writes it), and is what --schema writes', async () => {
    const target = join(folder, 'schema.json');
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'write-configuration-schema.mjs'), target]);
    expect(await readFile(target, 'utf8')).toBe(await readFile(SCHEMA, 'utf8'));
    expect(JSON.parse((await runCommand(['export', '--schema'])).out)).toEqual(schema);
  });

  it('accepts what is exported, which names it, and what the command accepts', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, EVERYTHING);
    const { out } = await workspace.run('export');
    expect(out.split('\n')[0]).toBe('# yaml-language-server: $schema=configuration.schema.json');
    for (const text of [out, EVERYTHING, 'version: 1\nvariables:\nretention: { eventDays: null }']) {
      expect([isValid(parse(text)), isValid.errors]).toEqual([true, null]);
    }
  });

  it.each([
    'eventTypes: []',
    'version: 1\nvariabels: []',
    anEventType({ a: { type: 'string', requird: true } }),
    'version: 1\nvariables: [{ scope: user, name: a, type: number }]',
    'version: 1\nissuers: [{ issuer: a, audience: b, secret: c }]',
    'version: 1\nwebhooks: [{ url: "https://a.example.com/", events: [{ eventTyp: a }] }]',
    'version: 1\nretention: { eventDays: 3 }',
    'version: 1\neventTypes: [{ eventType: a, properties: {}, force: true }]',
  ])('refuses what the command refuses: %j', async (text) => {
    const workspace = await aWorkspace();
    expect(isValid(parse(text))).toBe(false);
    expect((await workspace.run('plan', text)).code).toBe(1);
  });
});
