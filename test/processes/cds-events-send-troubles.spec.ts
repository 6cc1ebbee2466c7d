import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, gzipSync } from 'node:zlib';
import { anExternalEvent } from '../support/builders';
import { runCds, runScript, startCds, type RunningCds } from '../support/cds';
import { startHttpStub, type HttpStub } from '../support/http-stub';
import { until } from '../support/until';

interface Sent {
  readonly items: readonly any[];
  /** Of the request: since the first one, in milliseconds. */
  readonly at: number;
}
type Answering = (sent: Sent, response: ServerResponse, request: number) => void;

/** Begins a block of a type that deflate does not have. */
const NO_BLOCK = Buffer.from([0x07]);

let folder: string;
let stub: HttpStub | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cds-troubles-'));
});
afterEach(() => stub?.stop());
afterAll(() => rm(folder, { recursive: true }));

/** A service that answers as told; what it was sent. */
async function aService(answering: Answering): Promise<Sent[]> {
  const received: Sent[] = [];
  stub = await startHttpStub((request, response) => {
    void text(request).then((body) => {
      const sent = { items: JSON.parse(body).items, at: performance.now() };
      received.push(sent);
      answering(sent, response, received.length);
    });
  });
  return received;
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const accept: Answering = ({ items }, response) =>
  answer(response, 200, { results: items.map((_, index) => ({ status: 'accepted', event_id: `e${index}` })) });

const problem = (errorCode: string) => ({ error_code: errorCode, message: 'In words.', details: [] });

function start(file: string, args: readonly string[] = [], input?: AsyncIterable<Buffer>): RunningCds {
  const environment = { CDS_API_KEY: 'k'.repeat(40), CDS_URL: `http://127.0.0.1:${stub?.port}` };
  return startCds(environment, ['events', 'send', file, '--json', ...args], input);
}

async function aFile(name: string, count: number): Promise<string> {
  const path = join(folder, `${name}.ndjson`);
  await writeFile(path, Array.from({ length: count }, () => `${JSON.stringify(anExternalEvent())}\n`).join(''));
  return path;
}

describe('cds events send, in trouble', () => {
  it('comes back when Retry-After says so, in seconds or as a date, with the very same events', async () => {
    const received = await aService((sent, response, request) => {
      const date = new Date(Date.now() + 2_000).toUTCString();
      if (request === 1) answer(response, 429, problem('rate_limited'), { 'retry-after': '1' });
      else if (request === 2) answer(response, 503, problem('unavailable'), { 'retry-after': date });
      else if (request === 3) response.destroy();
      else accept(sent, response, request);
    });
    const ran = await start(await aFile('later', 5)).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { accepted: 5, repeatedRequests: 3 }]);
    expect(received.map(({ items }) => items)).toEqual(Array(4).fill(received[0]?.items));
    const [first = 0, second = 0, third = 0] = received.map(({ at }) => at);
    expect(second - first).toBeGreaterThanOrEqual(990);
    expect(third - second).toBeGreaterThanOrEqual(990);
  });

  it('sends in halves what is too large as a whole, and gives up single events only', async () => {
    const received = await aService((sent, response, request) => {
      const isTooLarge = sent.items.length > 3 || sent.items.some(({ external_event_id: id }) => id === 'huge');
      if (isTooLarge) answer(response, 413, '<html>');
      else accept(sent, response, request);
    });
    const file = await aFile('halves', 9);
    await writeFile(file, `${JSON.stringify(anExternalEvent({ external_event_id: 'huge' }))}\n`, { flag: 'a' });
    const ran = await start(file).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([1, { lines: 10, accepted: 9, errors: 1 }]);
    expect(received.map(({ items }) => items.length)).toEqual([10, 5, 3, 2, 5, 3, 2, 1, 1]);
  });

  it('sends again only those events that could not be taken at the moment', async () => {
    const received = await aService(({ items }, response, request) => {
      const result = (_: unknown, index: number) =>
        request === 1 && index < 2
          ? { status: 'error', ...problem('unavailable') }
          : { status: index === 3 ? 'duplicate' : 'accepted', event_id: 'e', original_event_id: 'e' };
      answer(response, 200, { results: items.map(result) });
    });
    const ran = await start(await aFile('moment', 5)).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { lines: 5, accepted: 4, duplicate: 1 }]);
    expect(received[1]?.items).toEqual(received[0]?.items.slice(0, 2));
  });

  it('gives up after --retry-for, and the same command goes on with what was not done', async () => {
    let isAway = true;
    const received = await aService((sent, response, request) => {
      if (isAway && request > 2) answer(response, 500, problem('internal'));
      else accept(sent, response, request);
    });
    const file = await aFile('away', 10);
    const args = ['--batch-size', '2', '--concurrency', '1', '--retry-for', '1s'];
    const gaveUp = await start(file, args).ended;
    expect([gaveUp.code, JSON.parse(gaveUp.out)]).toMatchObject([1, { lines: 4, accepted: 4, complete: false }]);
    expect(gaveUp.said).toContain('500 internal');
    isAway = false;
    const before = received.length;
    const ran = await start(file, ['--batch-size', '3']).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { lines: 10, accepted: 10, complete: true, runs: 2 }]);
    expect(
      received
        .slice(before)
        .map(({ items }) => items.length)
        .sort(),
    ).toEqual([3, 3]);
  });

  it('notes nothing twice that was noted before a kill and not counted, and leaves alone what somebody has changed', async () => {
    let isAway = true;
    await aService((sent, response, request) => {
      if (isAway && request > 1) answer(response, 500, problem('internal'));
      else accept(sent, response, request);
    });
    const file = await aFile('noted', 3);
    const errors = `${file}.errors.ndjson`;
    await writeFile(file, `no JSON\n${await readFile(file, 'utf8')}`);
    await start(file, ['--batch-size', '1', '--concurrency', '1', '--retry-for', '1s']).ended;
    const noted = await readFile(errors, 'utf8');
    isAway = false;
    await writeFile(errors, noted.replace('no JSON', 'mended!'));
    const refused = await start(file).ended;
    expect([refused.code, refused.said]).toEqual([
      2,
      expect.stringContaining('is not as the interrupted run has left it'),
    ]);
    await writeFile(errors, `${noted}{"line":4}\n`);
    const ran = await start(file).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([1, { lines: 4, accepted: 3, errors: 1 }]);
    expect(await readFile(errors, 'utf8')).toBe(noted);
  });

  it('told to stop, hears what is under way, begins nothing new, and goes on without doubling anything', async () => {
    let held: (() => void) | undefined;
    const received = await aService((sent, response, request) => {
      if (request === 3) held = () => accept(sent, response, request);
      else accept(sent, response, request);
    });
    const file = await aFile('stopped', 10);
    const run = start(file, ['--batch-size', '2', '--concurrency', '1']);
    while (held === undefined) await wait(10);
    run.child.kill('SIGINT');
    await wait(200);
    held();
    const ran = await run.ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([130, { lines: 6, accepted: 6, complete: false }]);
    expect(ran.said).toContain('the same command goes on from there');
    const rest = await start(file).ended;
    expect([rest.code, JSON.parse(rest.out)]).toMatchObject([0, { lines: 10, accepted: 10, duplicate: 0, runs: 2 }]);
    const ids = received.flatMap(({ items }) => items.map(({ external_event_id: id }) => id));
    expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
  });

  it('refuses to go on with a file that has changed, unless it is told to begin anew', async () => {
    let isAway = true;
    await aService((sent, response, request) => {
      if (isAway && request > 1) answer(response, 500, problem('internal'));
      else accept(sent, response, request);
    });
    const file = await aFile('changed', 3);
    await start(file, ['--batch-size', '1', '--concurrency', '1', '--retry-for', '1s']).ended;
    isAway = false;
    await aFile('changed', 4);
    const refused = await start(file).ended;
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.said).toMatch(/interrupted after line 1, and the file was written since, or is a copy.*--restart/);
    const ran = await start(file, ['--restart']).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { accepted: 4, runs: 1 }]);
  });

  it('refuses to go on with a file whose events were changed, though it is as long and begins and ends as before', async () => {
    let isAway = true;
    await aService((sent, response, request) => {
      if (isAway && request > 1) answer(response, 500, problem('internal'));
      else accept(sent, response, request);
    });
    const file = await aFile('corrected', 1_000);
    await start(file, ['--concurrency', '1', '--retry-for', '1s']).ended;
    isAway = false;
    const lines = (await readFile(file, 'utf8')).split('\n');
    lines[400] = lines[400]!.replace(/"source":"./, '"source":"X');
    await writeFile(file, lines.join('\n'));
    const refused = await start(file).ended;
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.said).toMatch(/interrupted after line 500, and the file was written since/);
  });

  it('leaves nothing of a run that no service has answered, so that the right command begins', async () => {
    const received = await aService(accept);
    const file = await aFile('nowhere', 3);
    await writeFile(file, `no JSON\n${await readFile(file, 'utf8')}`);
    const wrong = await start(file, ['--url', 'http://127.0.0.1:1', '--retry-for', '1s']).ended;
    expect([wrong.code, JSON.parse(wrong.out)]).toMatchObject([1, { lines: 0, errors: 0, errorsFile: null }]);
    expect((await readdir(folder)).filter((name) => name.startsWith('nowhere'))).toEqual(['nowhere.ndjson']);
    await writeFile(file, (await readFile(file, 'utf8')).replace('no JSON\n', ''));
    const right = await start(file).ended;
    expect([right.code, JSON.parse(right.out)]).toMatchObject([0, { lines: 3, accepted: 3, runs: 1 }]);
    expect(received).toHaveLength(1);
  });

  it('begins with the right command after one to a wrong address was killed', async () => {
    await aService(accept);
    const file = await aFile('killed', 3);
    const wrong = start(file, ['--url', 'http://127.0.0.1:1']);
    await until(() => existsSync(`${file}.state.json`));
    wrong.child.kill('SIGKILL');
    await wrong.ended;
    const right = await start(file).ended;
    expect([right.code, JSON.parse(right.out)]).toMatchObject([0, { lines: 3, accepted: 3 }]);
  });

  it('stops at a disk that is full with a summary, and goes on when there is room', async () => {
    await aService(({ items }, response) => {
      answer(response, 200, { results: items.map(() => ({ status: 'error', ...problem('validation_failed') })) });
    });
    const file = await aFile('full', 30);
    const environment = { CDS_API_KEY: 'k'.repeat(40), CDS_URL: `http://127.0.0.1:${stub?.port}` };
    // A file may not have more than 4 KiB: the system refuses to write on, as it does on a full disk.
    const command = `$CDS events send ${file} --json --batch-size 1`;
    const full = await runScript(environment, `trap '' XFSZ; ulimit -f 4; ${command}`);
    const { lines, errors, complete } = JSON.parse(full.out);
    expect([full.code, errors, complete]).toEqual([1, lines, false]);
    expect(full.said).toContain(`${file}.errors.ndjson cannot be written (EFBIG).`);
    const noted = (await readFile(`${file}.errors.ndjson`, 'utf8')).trimEnd().split('\n');
    expect(noted).toHaveLength(lines);
    const rest = await runScript(environment, command);
    expect([rest.code, JSON.parse(rest.out)]).toMatchObject([1, { lines: 30, errors: 30, complete: true, runs: 2 }]);
    const all = (await readFile(`${file}.errors.ndjson`, 'utf8')).trimEnd().split('\n');
    expect(new Set(all.map((line) => JSON.parse(line).line)).size).toBe(30);
    expect(all).toHaveLength(30);
  });

  it('says which of its files cannot be written', async () => {
    await aService(accept);
    const file = await aFile('unwritable', 1);
    await mkdir(`${file}.state.json.tmp`);
    const ran = await start(file).ended;
    expect([ran.code, ran.said.trim()]).toEqual([1, `${file}.state.json cannot be written (EISDIR).`]);
    expect((await readdir(folder)).filter((name) => name.startsWith('unwritable')).sort()).toEqual([
      'unwritable.ndjson',
      'unwritable.ndjson.state.json.tmp',
    ]);
  });

  it('refuses a pipe as one of its files, before it sends anything, and leaves it in place', async () => {
    const received = await aService(accept);
    const file = await aFile('special', 1);
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    for (const option of ['--errors', '--state']) {
      const ran = await start(file, [option, pipe, '--restart']).ended;
      expect([ran.code, ran.said.trim()]).toEqual([2, `${pipe} is no regular file. Name another one with ${option}.`]);
    }
    const missing = await start(file, ['--errors', join(folder, 'missing', 'errors')]).ended;
    expect([missing.code, missing.said]).toEqual([2, expect.stringContaining('cannot be written (ENOENT)')]);
    expect([received.length, (await stat(pipe)).isFIFO()]).toEqual([0, true]);
    expect((await readdir(folder)).filter((name) => name.startsWith('special'))).toEqual(['special.ndjson']);
  });

  it('refuses a second run while the first one sends the file, and goes on after a run that was killed', async () => {
    let isAway = true;
    await aService((sent, response, request) => {
      if (isAway && request > 1) answer(response, 500, problem('internal'));
      else accept(sent, response, request);
    });
    const file = await aFile('twice', 4);
    await writeFile(file, `no JSON\n${await readFile(file, 'utf8')}`);
    const args = ['--batch-size', '1', '--concurrency', '1'];
    const first = start(file, args);
    await until(async () => (await readFile(`${file}.errors.ndjson`, 'utf8').catch(() => '')) !== '');
    for (const more of [[], ['--restart']]) {
      const second = await start(file, more).ended;
      expect([second.code, second.out]).toEqual([2, '']);
      expect(second.said).toContain(`Another run (pid ${first.child.pid}) is sending this file`);
    }
    first.child.kill('SIGKILL');
    await first.ended;
    isAway = false;
    const ran = await start(file, args).ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([1, { lines: 5, errors: 1 }]);
    expect((await readFile(`${file}.errors.ndjson`, 'utf8')).split('\n')).toHaveLength(2);
    expect((await readdir(folder)).filter((name) => name.startsWith('twice')).sort()).toEqual([
      'twice.ndjson',
      'twice.ndjson.errors.ndjson',
    ]);
  });

  it('stops when something else writes the errors file', async () => {
    let held: (() => void) | undefined;
    await aService(({ items }, response, request) => {
      const results = items.map(() => ({ status: 'error', ...problem('validation_failed') }));
      if (request === 2) held = () => answer(response, 200, { results });
      else answer(response, 200, { results });
    });
    const file = await aFile('shared', 3);
    const errors = `${file}.errors.ndjson`;
    const run = start(file, ['--batch-size', '1', '--concurrency', '1']);
    await until(() => held !== undefined);
    await writeFile(errors, '{"line":9}\n', { flag: 'a' });
    held?.();
    const ran = await run.ended;
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([1, { lines: 1, errors: 1, complete: false }]);
    expect(ran.said).toContain(`${errors} is being written by another run, or was changed.`);
    expect((await readFile(errors, 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  it('takes a folder for what it is', async () => {
    await aService(accept);
    const ran = await start(folder).ended;
    expect([ran.code, ran.out, ran.said.trim()]).toEqual([
      2,
      '',
      `${folder} is a folder. Name a file; send each of several by itself.`,
    ]);
  });

  it('reads past a byte order mark, also of a file that is packed', async () => {
    const received = await aService(accept);
    const file = await aFile('marked', 1);
    const marked = `\uFEFF${await readFile(file, 'utf8')}`;
    await writeFile(file, marked);
    expect((await start(file).ended).code).toBe(0);
    await writeFile(file, gzipSync(marked));
    expect((await start(file).ended).code).toBe(0);
    expect(received.map(({ items }) => items.length)).toEqual([1, 1]);
  });

  it.each(['1', '4'])('sends the complete lines of a gzip that is cut off, then says so (%s under way)', async (n) => {
    const received = await aService(accept);
    const file = await aFile(`cut-${n}`, 100);
    // Random, so that much of it is missing.
    const text = (await readFile(file, 'utf8')).replaceAll('29.33', () => String(Math.random()));
    const packed = gzipSync(text);
    await writeFile(file, packed.subarray(0, packed.length - 500));
    const ran = await start(file, ['--batch-size', '30', '--concurrency', n]).ended;
    const { lines, accepted, complete } = JSON.parse(ran.out);
    expect([ran.code, accepted, complete]).toEqual([1, lines, false]);
    expect(lines).toBeGreaterThan(50);
    expect(lines).toBeLessThan(100);
    expect(ran.said).toContain('(Z_BUF_ERROR); the complete lines before that were sent.');
    const sent = received.flatMap(({ items }) => items.map(({ external_event_id: id }) => id)).sort();
    const ids = text
      .trimEnd()
      .split('\n')
      .slice(0, lines)
      .map((line) => JSON.parse(line).external_event_id);
    expect(sent).toEqual(ids.sort());
  });

  it.each<[string, (text: string) => Buffer]>([
    ['followed by something else', (text) => Buffer.concat([gzipSync(text), Buffer.from('no gzip')])],
    ['broken', (text) => Buffer.concat([gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH }), NO_BLOCK])],
  ])('sends the complete lines before the place where a gzip is %s', async (name, packed) => {
    const received = await aService(accept);
    const file = await aFile(name, 100);
    const lines = await readFile(file, 'utf8');
    await writeFile(file, packed(`${lines}{"cut":`));
    const ran = await start(file).ended;
    expect([ran.code, JSON.parse(ran.out).accepted]).toEqual([1, 100]);
    expect(ran.said).toContain('(Z_DATA_ERROR); the complete lines before that were sent.');
    const sent = received.flatMap(({ items }) => items.map((item) => `${JSON.stringify(item)}\n`));
    expect(sent.join('')).toBe(lines);
  });

  it('sends 150 MB through a heap of 96, reading no faster than the service takes it', async () => {
    await aService(accept);
    const event = JSON.stringify(anExternalEvent({ attributes: { words: 'x'.repeat(20_000) } }));
    const part = Buffer.from(`${event}\n`.repeat(50));
    async function* stream(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 150; count += 1) yield await Promise.resolve(part);
    }
    const environment = { CDS_API_KEY: 'k'.repeat(40), NODE_OPTIONS: '--max-old-space-size=96' };
    const args = ['events', 'send', '-', '--json', '--url', `http://127.0.0.1:${stub?.port}`];
    const ran = await runCds(environment, [...args, '--errors', join(folder, 'large.errors')], stream());
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { lines: 7_500, accepted: 7_500 }]);
  });
});
