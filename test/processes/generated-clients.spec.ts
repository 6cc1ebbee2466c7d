import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedApp, type SharedApp } from '../support/app';
import { aClient } from '../support/client';
import { runNode } from '../support/run-node';

const ROOT = join(__dirname, '..', '..');
const BIN = (name: string): string => join(ROOT, 'node_modules', ...name.split('/'));

let folder: string;
let service: SharedApp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'generated-client-'));
  service = await sharedApp();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each sends an event, reads it, and is refused with a page that is too large. */
const PROGRAMS = {
  'hey-api': `
import { createClient } from './generated/client';
import { getEvent, listEvents, takeExternalEvent } from './generated/sdk.gen';

async function main(baseUrl: string, auth: string): Promise<void> {
  const client = createClient({ baseUrl, auth });
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const body = { source: 'shop.orders', external_event_id: 'order-1', type: 'purchase', identity };
  const sent = await takeExternalEvent({ client, body });
  if (sent.data?.status !== 'accepted') throw new Error(JSON.stringify(sent.error));
  const read = await getEvent({ client, path: { eventId: sent.data.event_id } });
  const refused = await listEvents({ client, query: { limit: 1_000 } });
  const code: string | undefined = refused.error?.error_code;
  console.log(JSON.stringify([read.data?.externalEventId, read.data?.family, refused.response?.status, code]));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
`,
  codegen: `
import { ApiError, EventsService, IngestService, OpenAPI } from './generated';

async function main(baseUrl: string, token: string): Promise<void> {
  Object.assign(OpenAPI, { BASE: baseUrl, TOKEN: token });
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const event = { source: 'shop.orders', external_event_id: 'order-1', type: 'purchase', identity };
  const sent = await IngestService.takeExternalEvents({ items: [event] });
  const [result] = 'results' in sent ? sent.results : [];
  if (result === undefined || !('event_id' in result)) throw new Error(JSON.stringify(sent));
  const read = await EventsService.getEvent(result.event_id);
  if (!('externalEventId' in read)) throw new Error(JSON.stringify(read));
  const refused: unknown = await EventsService.listEvents(1_000 as never).catch((error: unknown) => error);
  if (!(refused instanceof ApiError)) throw new Error(JSON.stringify(refused));
  console.log(JSON.stringify([read.externalEventId, read.family, refused.status, refused.body.error_code]));
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
`,
} as const;

const DOCUMENT = join(ROOT, 'docs', 'openapi.json');
const GENERATORS: readonly [string, keyof typeof PROGRAMS, readonly string[]][] = [
  [
    '@hey-api/openapi-ts',
    'hey-api',
    ['@hey-api/openapi-ts/bin/run.js', '-i', DOCUMENT, '-c', '@hey-api/client-fetch', '--no-log-file', '-o'],
  ],
  ['openapi-typescript-codegen', 'codegen', ['openapi-typescript-codegen/bin/index.js', '-i', DOCUMENT, '-o']],
];

describe('a client that a generator makes of docs/openapi.json', () => {
  it.each(GENERATORS)('compiles, and sends an event and reads it: %s', async (_name, program, [bin = '', ...args]) => {
    const home = join(folder, program);
    mkdirSync(home);
    await runNode(home, [BIN(bin), ...args, join(home, 'generated')]);
    writeFileSync(join(home, 'program.ts'), PROGRAMS[program]);

    const rules = ['--ignoreConfig', '--strict', '--skipLibCheck', '--target', 'es2022'];
    const modules = ['--lib', 'es2023,dom,dom.iterable', '--module', 'commonjs', '--moduleResolution', 'bundler'];
    const places = ['--types', 'node', '--typeRoots', BIN('@types'), '--outDir', join(home, 'built')];
    expect(await runNode(home, [BIN('typescript/bin/tsc'), ...rules, ...modules, ...places, 'program.ts'])).toBe('');

    const { key } = await aClient(service);
    const said = await runNode(home, [join('built', 'program.js'), service.url, key!]);
    expect(JSON.parse(said)).toEqual(['order-1', 'external', 422, 'validation_failed']);
  });
});
