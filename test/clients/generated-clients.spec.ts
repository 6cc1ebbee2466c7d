import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp, type TestApp } from '../support/app';
import { aClient } from '../support/client';
import { runNode } from '../support/run-node';

const ROOT = join(__dirname, '..', '..');
const BIN = (name: string): string => join(ROOT, 'node_modules', ...name.split('/'));

let folder: string;
let service: TestApp;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'generated-client-'));
  service = await startApp();
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const PROGRAM = `
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
`;

describe('a client that @hey-api/openapi-ts makes of docs/openapi.json', () => {
  it('compiles, and sends an event and reads it', async () => {
    const document = join(ROOT, 'docs', 'openapi.json');
    const generate = [BIN('@hey-api/openapi-ts/bin/run.js'), '-i', document, '-o', join(folder, 'generated')];
    await runNode(folder, [...generate, '-c', '@hey-api/client-fetch', '--no-log-file']);
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    expect(readFileSync(join(folder, 'generated', 'sdk.gen.ts'), 'utf8')).toContain('export const takeExternalEvent');

    const rules = [
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable',
    ];
    const modules = ['--module', 'commonjs', '--moduleResolution', 'bundler', '--types', 'node'];
    const places = ['--typeRoots', BIN('@types'), '--outDir', join(folder, 'built')];
    expect(await runNode(folder, [BIN('typescript/bin/tsc'), ...rules, ...modules, ...places, 'program.ts'])).toBe('');

    const { key } = await aClient(service);
    const said = await runNode(folder, [join('built', 'program.js'), service.url, key!]);
    expect(JSON.parse(said)).toEqual(['order-1', 'external', 422, 'validation_failed']);
  });
});
