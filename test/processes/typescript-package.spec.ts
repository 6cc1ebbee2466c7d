import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { sharedApp, type SharedApp } from '../support/app';
import { aClient } from '../support/client';
import { runNode } from '../support/run-node';
import { aTokenIssuer } from '../support/tokens';

const ROOT = join(__dirname, '..', '..');
const CLIENT = join(ROOT, 'clients', 'typescript');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

let folder: string;
let installed: string;

/** As npm would install it: what the package's `files` say, in a project that has nothing else. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'client-package-'));
  installed = join(folder, 'node_modules', '@campaign-data-service', 'client');
  mkdirSync(installed, { recursive: true });
  cpSync(join(CLIENT, 'package.json'), join(installed, 'package.json'));
  await runNode(ROOT, ['scripts/build-client.mjs', join(installed, 'dist')]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

const EXAMPLE = `
import { CampaignDataError, createClient, type CampaignEvent, type EventResult, type paths } from '@campaign-data-service/client';

const backend = createClient({ baseUrl: 'https://data.example.com', apiKey: 'cds_…' });
const participant = createClient({ baseUrl: 'https://data.example.com', token: () => Promise.resolve('…') });

export async function send(events: AsyncIterable<CampaignEvent>): Promise<EventResult[]> {
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const result = await backend.events.send({ source: 'shop', external_event_id: '1', type: 'purchase', identity });
  const id: string = result.status === 'accepted' ? result.event_id : result.original_event_id;
  // @ts-expect-error: an event needs an identity
  await backend.events.send({ source: 'shop', external_event_id: id, type: 'purchase' });
  // @ts-expect-error: state is for participants
  await backend.state.read();
  return backend.events.batch(events, { concurrency: 2 });
}

export async function spend(): Promise<number | string | boolean | null | undefined> {
  try {
    await participant.state.mutate([{ path: 'state.user.points', op: 'dec', value: 10 }], { mutationId: 'checkout-1' });
    // @ts-expect-error: there is no such operation
    await participant.state.mutate([{ path: 'state.user.points', op: 'double', value: 2 }]);
  } catch (error) {
    if (error instanceof CampaignDataError && error.errorCode === 'validation_failed') return error.details[0]?.message;
  }
  const { user } = await participant.state.read();
  return user['points'];
}

export type Lookup = paths['/v1/cdp/profiles:lookup']['post']['requestBody']['content']['application/json'];
`;

describe('the package', () => {
  it('has the types of docs/openapi.json (npm run openapi writes both)', async () => {
    const made = join(folder, 'schema.ts');
    await runNode(ROOT, ['scripts/write-client-types.mjs', made]);
    const isSame = readFileSync(made, 'utf8') === readFileSync(join(CLIENT, 'src', 'schema.ts'), 'utf8');
    expect(isSame).toBe(true);
  });

  it('brings all that it needs: nothing is imported but its own files', () => {
    const files = readdirSync(join(installed, 'dist', 'esm')).filter((name) => name.endsWith('.js'));
    const imported = files.flatMap((name) => {
      const text = readFileSync(join(installed, 'dist', 'esm', name), 'utf8');
      expect(text).not.toMatch(/\b(?:require|process|Buffer|__dirname|global)\b[.([]/);
      return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g)].map(([, target]) => target!);
    });
    expect(imported.length).toBeGreaterThan(5);
    expect(imported.filter((target) => !/^\.\/[\w-]+\.js$/.test(target))).toEqual([]);
    const { dependencies = {} } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(dependencies).toEqual({});
  });

  it('is imported and required', async () => {
    const use = `
      const client = createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'k', retry: { attemptsMax: 1 } });
      client.events.batch([{}]).catch((error) => console.log(error instanceof CampaignDataError, error.errorCode));`;
    const names = '{ CampaignDataError, createClient }';
    const esm = write('use.mjs', `import ${names} from '@campaign-data-service/client'; ${use}`);
    const cjs = write('use.cjs', `const ${names} = require('@campaign-data-service/client'); ${use}`);
    expect(await Promise.all([esm, cjs].map((name) => runNode(folder, [name])))).toEqual([
      'true network_error\n',
      'true network_error\n',
    ]);
  });

  it('has types for both, under the strictest rules and without those of Node', async () => {
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
    const platform = { target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom'], types: [] };
    const files = [write('example.mts', EXAMPLE), write('example.cts', EXAMPLE)];
    write('tsconfig.json', JSON.stringify({ compilerOptions: { ...strict, ...platform }, files }));
    expect(await runNode(folder, [TSC, '-p', '.'])).toBe('');
  });
});

describe('in a browser', () => {
  let service: SharedApp;

  beforeAll(async () => {
    service = await sharedApp();
  });

  it('works with what browsers have', async () => {
    const admin = await aClient(service);
    const issuer = await aTokenIssuer(admin, { fields: { defaultCampaignId: 'spring' } });
    await admin.post('/v1/campaigns/spring/variables:define', { scope: 'user', name: 'points', type: 'number' });
    const { createClient } = inBrowser(join(installed, 'dist', 'cjs'), 'client');
    const { state } = createClient({ baseUrl: service.url, token: issuer.token() });
    await state.mutate([{ path: 'state.user.points', op: 'inc', value: 5 }]);
    expect((await state.read()).user).toEqual({ points: 5 });
  });
});

/** Loads a module, and what it requires of its own folder, where nothing of Node's is known. */
function inBrowser(folder: string, name: string): any {
  const web = { fetch, AbortController, AbortSignal, Headers, TextEncoder, URL, crypto, performance };
  const context = createContext({ ...web, setTimeout, clearTimeout });
  const loaded = new Map<string, object>();
  const load = (module: string): unknown => {
    const known = loaded.get(module);
    if (known !== undefined) return known;
    const exports = {};
    loaded.set(module, exports);
    const text = readFileSync(join(folder, `${module}.js`), 'utf8');
    const run = runInContext(`(function (exports, require) {${text}\n})`, context);
    run(exports, (path: string) => load(path.replace(/^\.\/|\.js$/g, '')));
    return exports;
  };
  return load(name);
}
