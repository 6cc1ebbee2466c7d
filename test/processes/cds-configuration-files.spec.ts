import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import { parse } from 'yaml';
import { runCds, startCds } from '../support/cds';
import {
  anEventType,
  applied,
  ConfiguredService,
  EVERYTHING,
  type ConfiguredWorkspace,
} from '../support/configuration';
import { rowsOf } from '../support/database';

const ROOT = join(__dirname, '..', '..');
const SCHEMA = join(ROOT, 'src', 'cli', 'configuration', 'configuration.schema.json');
/** Of the service under test, which `startApp` gives it. */
const SECRETS_KEY = 'a-secrets-key-for-tests-of-40-characters';

let cds: ConfiguredService;

beforeAll(async () => {
  cds = await ConfiguredService.start();
});
afterAll(() => cds.stop());

const aWorkspace = (): Promise<ConfiguredWorkspace> => cds.workspace();

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
      rowsOf(cds.service.databaseUrl, 'SELECT secret FROM jwt_issuers WHERE tenant_id = $1', [workspace.tenantId]);
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
    [
      'two documents',
      'version: 1\n---\nversion: 1',
      /:2:1: A file of configuration is one document; remove what follows "---"/,
    ],
    [
      'too many levels',
      `version: 1\nvariables: ${'['.repeat(3_000)}${']'.repeat(3_000)}`,
      /:2:\d+: .*nested too deeply/,
    ],
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
    ...['9007199254740993', '-.12345678901234567890', '+1.0000000000000000001', '1e-400'].map(
      (number): [string, string, RegExp] => [
        `a number that would be stored as another one (${number})`,
        `version: 1\nvariables:\n  - { campaignId: a, scope: user, name: b, type: number, default: ${number} }`,
        /:3:67: default must be a finite number that is stored exactly/,
      ],
    ),
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
    ...['!!set { eventDays }', '!!omap [eventDays: 40]', '!!pairs [eventDays: 40]', '!!binary aGk='].map(
      (value): [string, string, RegExp] => [
        `what JSON does not have (${value})`,
        `version: 1\nretention: ${value}`,
        /:2:12: Unresolved tag/,
      ],
    ),
    [
      'a number in another notation that would be stored as another one',
      'version: 1\nvariables:\n  - { campaignId: a, scope: user, name: b, type: number, max: 0x20000000000001 }',
      /:3:63: max must be a finite number that is stored exactly/,
    ],
    ['an alias within what it stands for', 'version: 1\nvariables: &a\n  - { x: [*a, *a] }', /nested too deeply/],
  ])('is refused with line and column: %s', async (_, text, words) => {
    const workspace = await aWorkspace();
    const { code, said, out } = await workspace.run('plan', text);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(said).toMatch(words);
  });

  it('is refused with all faults, in their order', async () => {
    const workspace = await aWorkspace();
    const text =
      'version: 1\nretention: { days: 3 }\nvariables: [{}]\neventTypes: [{ eventType: "-" }]\nvarables: []\nreactions: {}\n' +
      'issuers: [{ issuer: a, audience: b, secret: c, clockToleranceSeconds: .inf }]\nwebhooks: [a]';
    const { said } = await workspace.run('plan', text);
    const faults = said.split('\n').flatMap((line) => {
      const [, lineNumber, field] = /:(\d+):\d+: (\w+)/.exec(line) ?? [];
      return lineNumber === undefined ? [] : [`${lineNumber} ${field}`];
    });
    const missing = ['2 days', '3 campaignId', '3 name', '3 scope', '3 type', '4 eventType', '4 properties'];
    missing.push('5 varables', '6 reactions', '7 clockToleranceSeconds', '7 secret', '8 webhooks');
    expect(faults.toSorted()).toEqual(missing);
    expect(faults.map((each) => each[0])).toEqual(missing.map((each) => each[0]));
  });

  it('is refused beyond its size, and where there is none', async () => {
    const workspace = await aWorkspace();
    const large = await workspace.run('plan', `version: 1\n# ${'x'.repeat(5 * 1024 * 1024)}`);
    expect(large).toMatchObject({ code: 1, said: expect.stringContaining('larger than 5 MiB') });
    const missing = await cds.run(['plan', '-w', workspace.name, '-f', join(cds.folder, 'nowhere.yaml')]);
    expect(missing).toMatchObject({ code: 1, said: expect.stringContaining('cannot be read (ENOENT)') });
  });

  it('is refused in another encoding than UTF-8', async () => {
    const workspace = await aWorkspace();
    const variable = '{ campaignId: spring, scope: app, name: title, type: string, default: "Grüße" }';
    const path = join(cds.folder, 'latin1.yaml');
    await writeFile(path, Buffer.from(`version: 1\nvariables: [${variable}]\n`, 'latin1'));
    const { code, out, said } = await cds.run(['apply', '-w', workspace.name, '-f', path, '--yes']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(said).toContain(`${path} is not UTF-8. Save it with that encoding.\nNothing was changed.`);
    expect((await workspace.client.get('/v1/campaigns')).body.items).toEqual([]);
  });

  it('is not applied without an answer', async () => {
    const workspace = await aWorkspace();
    const file = await cds.file(EVERYTHING);
    const refused = await cds.run(['apply', '-w', workspace.name, '-f', file]);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('--yes') });
    expect((await workspace.run('plan', EVERYTHING)).out).toMatch(/^\+ eventTypes/);
  });
});

describe('cds as a program', () => {
  const environment = (): Record<string, string> => ({ DATABASE_URL: cds.service.databaseUrl, SECRETS_KEY });

  it('goes on where a killed one was, and ends with 2 if something would change', async () => {
    const workspace = await aWorkspace();
    const file = await cds.file(EVERYTHING);
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
    const target = join(cds.folder, 'schema.json');
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'write-configuration-schema.mjs'), target]);
    expect(await readFile(target, 'utf8')).toBe(await readFile(SCHEMA, 'utf8'));
    expect(JSON.parse((await cds.run(['export', '--schema'])).out)).toEqual(schema);
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
