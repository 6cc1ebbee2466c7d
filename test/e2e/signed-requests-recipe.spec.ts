import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from '@swc/core';
import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, type Workspace } from '../support/client';
import { sectionOf } from '../support/documented-commands';

/** As the recipe names it. */
const SERVICE_URL = 'http://127.0.0.1:3000';
const RUN_MS_MAX = 20_000;
const ACCEPTED = { status: 'accepted', event_id: expect.stringMatching(/^[0-9a-f-]{36}$/) };

const run = promisify(execFile);
const section = sectionOf('docs/recipes.md', 'Sign requests');

let service: SharedApp;
let workspace: Workspace;
let folder: string;
let privateFolder: string;

beforeAll(async () => {
  service = await sharedApp();
  folder = mkdtempSync(join(tmpdir(), 'signed-requests-'));
  privateFolder = mkdtempSync(join(tmpdir(), 'signed-requests-private-'));
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(privateFolder, { recursive: true });
});

/** The examples of the section in one language, in their order, against the service under test. */
function examples(language: string): string[] {
  const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'));
  return [...blocks].map(([, text = '']) => text.replaceAll(SERVICE_URL, service.url));
}

/** Runs a script in the reader's shell, and stops at the first thing that fails: a machine without OpenSSL or curl too. */
async function inShell(script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { PATH: process.env['PATH'], KEY: workspace.admin.key, PRIVATE: privateFolder, ...environment };
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env, timeout: RUN_MS_MAX });
  return stdout;
}

async function anHmacCredential(): Promise<{ KEYID: string; SECRET: string }> {
  const { body } = await workspace.admin.post('/v1/service-credentials', { name: 'till', algorithm: 'hmac-sha256' });
  return { KEYID: body.serviceCredential.id, SECRET: body.secret };
}

describe('the examples of the recipe', () => {
  it('are these', () => {
    expect([examples('sh').length, examples('ts').length]).toEqual([3, 1]);
    expect(section.match(/^```\w/gm)).toHaveLength(4);
  });

  it('send a signed event with OpenSSL and curl, which is accepted', async () => {
    const [prepare = '', send = ''] = examples('sh');
    expect(JSON.parse(await inShell(`${prepare}\n${send}`))).toEqual(ACCEPTED);
    const events = (await workspace.admin.get('/v1/events')).body.items;
    expect(events).toMatchObject([{ externalEventId: 'order-101', properties: { amount: 12.5 } }]);
    // The private key is where `git add .` does not find it.
    expect(readdirSync(folder)).toEqual([]);
  });

  it('send one signed by a shared secret, which is accepted', async () => {
    const [, send = '', signature = ''] = examples('sh');
    const script = send.replace('ed25519', 'hmac-sha256').replace(/^SIGNATURE=.*\n/m, signature);
    expect(script).toContain('openssl dgst -sha256 -hmac "$SECRET"');
    expect(script).not.toMatch(/ed25519|pkeyutl/);
    expect(JSON.parse(await inShell(script, await anHmacCredential()))).toEqual(ACCEPTED);
  });

  it('send one from TypeScript, which is accepted', async () => {
    const [prepare = ''] = examples('sh');
    const [example = ''] = examples('ts');
    const { code } = transformSync(example, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } });
    writeFileSync(join(folder, 'send-signed.mjs'), code);
    const script = `${prepare}\nSERVICE_KEY=$(cat "$PRIVATE/service.key") KEYID=$KEYID "$NODE" send-signed.mjs`;
    expect(await inShell(script, { NODE: process.execPath })).toMatch(
      /^\{\s+status: 'accepted',\s+event_id: '[0-9a-f-]{36}'\s+\}\n$/,
    );
    expect((await workspace.admin.get('/v1/events')).body.items).toMatchObject([{ externalEventId: 'order-102' }]);
  });
});
