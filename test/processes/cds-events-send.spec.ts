import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { runCds, startCds, type Ran } from '../support/cds';
import { aClient, aWorkspace, type Client } from '../support/client';
import { blocksOf, sectionOf } from '../support/documented-commands';

let service: SharedApp;
let folder: string;

beforeAll(async () => {
  service = await sharedApp();
  folder = await mkdtemp(join(tmpdir(), 'cds-send-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;

async function aFile(content: string | Uint8Array): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.ndjson`);
  await writeFile(path, content);
  return path;
}

const ndjson = (events: readonly unknown[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const externals = (count: number) => Array.from({ length: count }, () => anExternalEvent());

function send(client: Client, file: string, args: readonly string[] = [], input?: Iterable<Uint8Array>): Promise<Ran> {
  const environment = { CDS_API_KEY: client.key ?? '', CDS_URL: client.url };
  return runCds(environment, ['events', 'send', file, '--json', ...args], input);
}

async function storedIn(client: Client): Promise<string[]> {
  const { items } = (await client.get('/v1/events?limit=200')).body;
  return items.map((event: { externalEventId: string }) => event.externalEventId).sort();
}

const idsOf = (events: readonly any[]): string[] =>
  events.map((event) => event.external_event_id ?? event.externalEventId).sort();

async function errorsIn(path: string): Promise<any[]> {
  const text = await readFile(path, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('cds events send', () => {
  it('sends a file once however often it is told to, tells the family itself, and leaves nothing behind', async () => {
    const client = await aClient(service);
    const events = externals(25);
    const file = await aFile(`\uFEFF${ndjson(events).trimEnd().replaceAll('\n', '\r\n\r\n')}`);
    const first = await send(client, file, ['--batch-size', '4']);
    expect([first.code, JSON.parse(first.out)]).toMatchObject([
      0,
      {
        family: 'external',
        complete: true,
        lines: 25,
        accepted: 25,
        duplicate: 0,
        errors: 0,
        errorsFile: null,
        runs: 1,
      },
    ]);
    const second = await send(client, file);
    expect([second.code, JSON.parse(second.out)]).toMatchObject([
      0,
      { lines: 25, accepted: 0, duplicate: 25, runs: 1 },
    ]);
    expect(await storedIn(client)).toEqual(idsOf(events));
    expect([await exists(`${file}.errors.ndjson`), await exists(`${file}.state.json`)]).toEqual([false, false]);
  });

  it('notes each line that fails with why, and sends the mended errors file in the same way', async () => {
    const client = await aClient(service);
    await registerTypes(client);
    const [good, other, third] = [aCdpEvent(), aCdpEvent(), aCdpEvent()];
    const unregistered = { ...other, eventType: 'unheard_of' };
    const notUtf8 = Buffer.from([0x22, 0xff, 0x22]);
    const parts = [
      ndjson([good]),
      '\n{"cut": \n',
      notUtf8,
      `\n${ndjson([unregistered])}`,
      `"${'x'.repeat(1_200_000)}"\n[]`,
    ];
    const file = await aFile(Buffer.concat(parts.map((part) => Buffer.from(part))));
    const ran = await send(client, file);
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([1, { family: 'cdp', lines: 6, accepted: 1, errors: 5 }]);
    expect(ran.said).toContain(`5 lines failed, each with why in ${file}.errors.ndjson`);
    const errors = (await errorsIn(`${file}.errors.ndjson`)).sort((a, b) => a.line - b.line);
    expect(errors).toMatchObject([
      { line: 3, error_code: 'malformed_json', text: '{"cut":' },
      { line: 4, error_code: 'invalid_utf8', text_base64: notUtf8.toString('base64') },
      { line: 5, error_code: 'validation_failed', details: [{ path: 'eventType' }], event: unregistered },
      { line: 6, error_code: 'line_too_long' },
      { line: 7, error_code: 'validation_failed', event: [] },
    ]);
    expect(JSON.stringify(errors)).not.toContain('items[');

    expect([(await send(client, file)).code, await errorsIn(`${file}.errors.ndjson`)]).toEqual([2, expect.anything()]);
    errors[2].event.eventType = other['eventType'];
    errors[0].event = third;
    await writeFile(`${file}.errors.ndjson`, ndjson(errors));
    const again = await send(client, `${file}.errors.ndjson`, ['--family', 'cdp']);
    expect([again.code, JSON.parse(again.out)]).toMatchObject([1, { lines: 5, accepted: 2, errors: 3 }]);
    expect(await storedIn(client)).toEqual(idsOf([good, other, third]));
  });

  it('takes standard input and gzip, whatever the name, and looks at lines in a dry run without storing any', async () => {
    const client = await aClient(service);
    const events = externals(30);
    const packed = gzipSync(ndjson(events));
    const file = await aFile(packed);
    const dry = await send(client, file, ['--dry-run', '--batch-size', '7']);
    expect([dry.code, JSON.parse(dry.out)]).toMatchObject([0, { dryRun: true, lines: 30, accepted: 30 }]);
    expect([await storedIn(client), await exists(`${file}.state.json`)]).toEqual([[], false]);
    const bytewise = Array.from(packed, (byte) => Buffer.from([byte]));
    const piped = await send(client, '-', ['--errors', join(folder, 'piped.errors.ndjson')], bytewise);
    expect([piped.code, JSON.parse(piped.out)]).toMatchObject([0, { lines: 30, accepted: 30 }]);
    const real = await send(client, file);
    expect([real.code, JSON.parse(real.out)]).toMatchObject([0, { lines: 30, accepted: 0, duplicate: 30 }]);
    expect(await storedIn(client)).toEqual(idsOf(events));
  });

  it('stops at a gzip that is cut off, in words, and keeps what it has sent', async () => {
    const client = await aClient(service);
    const file = await aFile(gzipSync(ndjson(externals(30))).subarray(0, -9));
    const ran = await send(client, file);
    expect([ran.code, ran.said]).toEqual([1, expect.stringContaining('The gzip of the file is broken')]);
    expect(JSON.parse(ran.out).complete).toBe(false);
  });

  it('stops at once when the key may not send, and goes on with one that may', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['events:read'] });
    const writer = await workspace.client({ scopes: ['external-events:write'] });
    const file = await aFile(ndjson(externals(20)));
    const refused = await send(reader, file, ['--batch-size', '1']);
    expect([refused.code, JSON.parse(refused.out)]).toMatchObject([1, { lines: 0, complete: false }]);
    expect(refused.said).toMatch(/403 insufficient_scope.*--key-file/);
    const keyFile = await aFile(`${writer.key}\n`);
    const ran = await runCds({ CDS_URL: service.url }, ['events', 'send', file, '--key-file', keyFile]);
    expect([ran.code, ran.out]).toEqual([0, expect.stringMatching(/accepted +20\n/)]);
  });

  it('leaves nothing behind with a key that may not send, so that the right key begins', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['events:read'] });
    const file = await aFile(ndjson(externals(3)));
    expect((await send(reader, file)).said).toMatch(/403 insufficient_scope/);
    await writeFile(file, ndjson(externals(4)));
    const ran = await send(workspace.admin, file);
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { accepted: 4, runs: 1 }]);
  });

  it.each<[string, string[], RegExp]>([
    ['a key among the arguments, and does not repeat it', ['--key', 'cds_secret'], /can be seen by every user/],
    ['the file itself as errors file', ['--errors', 'FILE'], /three different files/],
    ['an address that is none', ['--url', 'localhost:3000'], /must look like/],
    ['more than 1,000 events in a batch', ['--batch-size', '1001'], /1 to 1000/],
    ['a family that there is not', ['--family', 'other'], /external, cdp/],
  ])('refuses %s', async (_, args, words) => {
    const file = await aFile(ndjson(externals(1)));
    const given = args.map((arg) => (arg === 'FILE' ? file : arg));
    const ran = await runCds({ CDS_API_KEY: 'k'.repeat(40), CDS_URL: service.url }, ['events', 'send', file, ...given]);
    expect([ran.code, ran.out, ran.said]).toEqual([2, '', expect.stringMatching(words)]);
    expect(ran.said).not.toContain('cds_secret');
  });

  it('asks for a family that the events do not tell', async () => {
    const client = await aClient(service);
    const ran = await send(client, await aFile('{"source":"s"}'));
    expect([ran.code, ran.said]).toEqual([2, expect.stringContaining('--family external or --family cdp')]);
  });

  it('interrupted while it reads, ends with 130 and says how it goes on', async () => {
    const client = await aClient(service);
    const environment = { CDS_API_KEY: client.key ?? '', CDS_URL: client.url };
    const errors = join(folder, 'interrupted.errors.ndjson');
    const events = externals(5);
    async function* endless() {
      yield ndjson(events);
      await new Promise(() => undefined);
    }
    const run = startCds(environment, ['events', 'send', '-', '--errors', errors, '--batch-size', '1'], endless());
    while (run.child.exitCode === null && (await storedIn(client)).length < 5) await wait(20);
    run.child.kill('SIGTERM');
    const ran = await run.ended;
    expect([ran.code, ran.said]).toEqual([130, expect.stringContaining('Interrupted; all lines up to 5 are done.')]);
  });

  it('sends a CSV by the recipe of docs/recipes.md', async () => {
    const recipe = 'Send a CSV';
    const csv = /^```csv\n([^]*?)^```$/m.exec(sectionOf('docs/recipes.md', recipe))?.[1] ?? '';
    const more = 'order-3,,2026-01-04,,\n';
    await writeFile(join(folder, 'orders.csv'), `\uFEFF${csv}${more}`);
    const [convert = ''] = blocksOf('docs/recipes.md', [recipe])[0]?.commands.split(/\n(?=CDS_API_KEY)/) ?? [];
    await promisify(execFile)('bash', ['-c', convert], {
      env: { ...process.env, PRIVATE: folder },
    });
    const client = await aClient(service);
    const ran = await send(client, join(folder, 'orders.ndjson'));
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([
      1,
      { family: 'external', lines: 3, accepted: 2, errors: 1 },
    ]);
    expect((await errorsIn(join(folder, 'orders.ndjson.errors.ndjson'))).map(({ event }) => event)).toEqual([
      {
        source: 'shop.orders',
        external_event_id: 'order-3',
        type: 'purchase',
        occurred_at: '2026-01-04T00:00:00Z',
        identity: { type: 'EMAIL' },
        attributes: {},
      },
    ]);
    const { items } = (await client.get('/v1/events?limit=10&externalEventId=order-2&source=shop.orders')).body;
    expect(items).toMatchObject([{ eventType: 'purchase', properties: { amount: 12.5, article: 'Mug, "large"' } }]);
  });
});
