import { parse } from 'yaml';
import { ConfigurationFile } from '../../src/cli/configuration/configuration-file';
import type { KindPlan } from '../../src/cli/configuration/configuration-plan';
import { WorkspaceConfiguration } from '../../src/cli/configuration/workspace-configuration';
import { operatorOf } from '../../src/cli/workspace-scope';
import {
  anEventType,
  applied,
  ConfiguredService,
  EVERYTHING,
  planned,
  type ConfiguredWorkspace,
} from '../support/configuration';

let cds: ConfiguredService;

beforeAll(async () => {
  cds = await ConfiguredService.start();
});
afterAll(() => cds.stop());

const aWorkspace = (): Promise<ConfiguredWorkspace> => cds.workspace();

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

    // The export names the disabled reactions, whose variables are archived.
    expect(await workspace.run('plan', (await workspace.run('export')).out)).toMatchObject({ code: 0, out: '' });

    // What was archived comes back, with the value that it had.
    await applied(workspace, EVERYTHING);
    expect((await workspace.client.get('/v1/campaigns/spring/variables')).body.variables).toHaveLength(2);
  });

  it('archive no variable that a reaction in force needs, whether the file has that reaction or not', async () => {
    const workspace = await aWorkspace();
    await applied(workspace, EVERYTHING);
    const today =
      '  - { campaignId: spring, scope: user, name: today, type: number, period: { every: day, timezone: Europe/Berlin } }';
    const { reactions } = parse(EVERYTHING);
    for (const [file, place] of [
      [`version: 1\nvariables:\n${today}\n`, ':1:1: reactions spring/count is in force and not in this file: '],
      [`version: 1\nvariables:\n${today}\nreactions: ${JSON.stringify(reactions)}\n`, ':4:'],
    ] as const) {
      const refused = await workspace.run('plan', file, '--prune');
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.said).toContain(place);
      expect(refused.said).toContain('ops[0].path names no variable that the campaign declares');
    }
    // That one is disabled.
    const points = '  - { campaignId: spring, scope: user, name: points, type: number, default: 0, min: 0, max: 1000 }';
    const kept = `version: 1\nvariables:\n${points}\nreactions: ${JSON.stringify(reactions)}\n`;
    expect((await planned(workspace, kept, '--prune')).match(/^[-+~] .*$/gm)).toEqual([
      '- variables spring/user/today (archive)',
      '- variables summer/app/title (archive)',
    ]);
    await applied(workspace, kept, '--prune');
    expect(await workspace.run('plan', kept, '--prune')).toMatchObject({ code: 0, out: '' });
  });

  it('plan no reaction that the event types of the same file forbid', async () => {
    const workspace = await aWorkspace();
    const file = (property: object): string =>
      `version: 1
eventTypes: ${JSON.stringify([{ eventType: 'purchase', properties: { shoe: { type: 'string', ...property } } }])}
variables: [{ campaignId: spring, scope: campaign, name: last, type: string }]
reactions:
  - { campaignId: spring, name: copy, eventType: purchase, ops: [{ path: state.campaign.last, op: set, valueFrom: properties.shoe }] }
`;
    for (const command of ['plan', 'apply'] as const) {
      const { code, said } = await workspace.run(command, file({ pii: true }));
      expect({ code, said }).toEqual({ code: 1, said: expect.stringMatching(/:5:\d+: .*valueFrom is personal data/) });
    }
    expect((await workspace.client.get('/v1/cdp/event-types')).body.items).toEqual([]);
    await applied(workspace, file({}));
    // What is in force already fails for each event, and keeps nobody from declaring what is personal (docs/adr/0035).
    await applied(workspace, file({ pii: true }));
    expect((await workspace.run('plan', file({ pii: true }))).code).toBe(0);
  });

  it('tell issuers with spaces in their names apart', async () => {
    const workspace = await aWorkspace();
    const file = (issuer: string, audience: string, host: string): string =>
      `version: 1\nissuers: ${JSON.stringify([{ issuer, audience, jwksUri: `https://${host}.example.com/keys` }])}\n`;
    await applied(workspace, file('acme shop', 'app', 'one'));
    expect(await planned(workspace, file('acme', 'shop app', 'two'))).toBe('+ issuers acme shop app');
    await applied(workspace, file('acme', 'shop app', 'two'));
    expect((await workspace.client.get('/v1/jwt-issuers')).body.items).toMatchObject([
      { issuer: 'acme', audience: 'shop app', jwksUri: 'https://two.example.com/keys' },
      { issuer: 'acme shop', audience: 'app', jwksUri: 'https://one.example.com/keys' },
    ]);
  });

  it.each([' \n', '  \n\n \t\n', '\n', ' ', 'a\n \n', '\t', `${'Words. '.repeat(6)}\n \n `])(
    'export text of white space as it is: %j',
    async (text) => {
      const workspace = await aWorkspace();
      const variable = { campaignId: 'spring', scope: 'user', name: 'a', type: 'string', default: text };
      await applied(workspace, `version: 1\nvariables: ${JSON.stringify([variable])}\n`);
      const { out: exported } = await workspace.run('export');
      expect(await workspace.run('plan', exported)).toMatchObject({ code: 0, out: '' });
    },
  );

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
    const configuration = new WorkspaceConfiguration(
      cds.service.app,
      await operatorOf(cds.service.app, workspace.name),
    );
    const file = (entries: string) => ConfigurationFile.parse('acme.yaml', `version: 1\n${kind}: ${entries}`);
    const apply = (plans: readonly KindPlan[]) =>
      configuration.apply(plans, { allowBreaking: true, done: () => undefined });
    const refusal = new RegExp(`^${kind}: .* was changed by somebody else[^]*No change of ${kind} was applied`);

    const plans = await configuration.plan(file(first), { prunes: false });
    await applied(workspace, `version: 1\n${kind}: ${second}`);
    const between = (await workspace.run('export')).out;
    await expect(apply(plans)).rejects.toThrow(refusal);
    expect((await workspace.run('export')).out).toBe(between);

    const changing = await configuration.plan(file(first), { prunes: false });
    await applied(workspace, `version: 1\n${kind}: ${first}`, '--allow-breaking');
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
    const missing = cds.run(['export', '-w', 'nowhere']);
    await expect(missing).rejects.toThrow(/no workspace "nowhere"/);
  });
});
