import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { runCds, runScript, startCds, type Ran, type RunningCds } from '../support/cds';
import { startHttpStub, type HttpStub } from '../support/http-stub';
import { until } from '../support/until';

const TO = '2026-02-01T00:00:00.000Z';
/** What the stub has in all; a page of it has as many as are asked for. */
const EVENTS = 1_000;

let folder: string;
let stub: HttpStub;
/** Of the pages that were asked for; the first request asks for the end of the range, and is not among them. */
let asked: URLSearchParams[];
/** Answers a page in another way; true if it has. */
let trouble: (page: URLSearchParams, response: ServerResponse, number: number) => boolean;
let completeBefore: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cds-export-'));
  [asked, completeBefore, trouble] = [[], TO, () => false];
  stub = await startHttpStub((request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    if (query.has('to')) {
      asked.push(query);
      if (!trouble(query, response, asked.length)) answer(response, 200, pageOf(query));
    } else answer(response, 200, { items: [], nextCursor: null, completeBefore });
  });
});
afterEach(async () => {
  await stub.stop();
  await rm(folder, { recursive: true });
});

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function pageOf(query: URLSearchParams): object {
  const start = Number(query.get('cursor') ?? 0);
  const end = Math.min(EVENTS, start + Number(query.get('limit')));
  const items = Array.from({ length: end - start }, (_, index) => eventOf(start + index));
  return { items, nextCursor: end < EVENTS ? String(end) : null, completeBefore };
}

const eventOf = (number: number) => ({
  eventId: `e${number}`,
  family: 'external',
  source: 'shop',
  externalEventId: `${number}`,
  eventType: 'purchase',
  eventTypeVersion: null,
  occurredAt: TO,
  receivedAt: new Date(number * 1_000).toISOString(),
  profileId: 'p',
  identity: {},
  properties: { number, note: 'x'.repeat(500) },
  processing: { state: 'processed' },
});

const environment = () => ({ CDS_API_KEY: 'k'.repeat(40), CDS_URL: `http://127.0.0.1:${stub.port}` });
const start = (args: readonly string[]): RunningCds => startCds(environment(), ['events', 'export', '--json', ...args]);
const exported = (args: readonly string[]): Promise<Ran> =>
  runCds(environment(), ['events', 'export', '--json', ...args]);
const file = () => join(folder, 'events.ndjson');

async function numbersIn(path: string): Promise<number[]> {
  const text = await readFile(path, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).properties.number);
}

const ALL = Array.from({ length: EVENTS }, (_, index) => index);
const unavailable = { error_code: 'unavailable', message: 'Not now.', details: [] };

/** Ends a run after two pages, and lets the next one go on. */
async function interrupted(args: readonly string[], rows = 400): Promise<void> {
  const before = asked.length;
  trouble = (_page, response, number) => number > before + 2 && (answer(response, 500, unavailable), true);
  const ran = await exported([...args, '--retry-for', '1s']);
  expect([ran.code, JSON.parse(ran.out).complete, JSON.parse(ran.out).rows]).toEqual([1, false, rows]);
  trouble = () => false;
}

describe('cds events export, in trouble', () => {
  it.each(['ndjson', 'parquet'])('goes on where it gave up, and asks for no page again (%s)', async (format) => {
    const args = ['--output', file(), '--format', format];
    await interrupted(args);
    const before = asked.length;
    const ran = await exported(args);
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { rows: EVENTS, complete: true, runs: 2, to: TO }]);
    expect(asked[before]?.get('cursor')).toBe('400');
    if (format === 'ndjson') expect(await numbersIn(file())).toEqual(ALL);
    else {
      const names = (await readdir(folder)).sort();
      expect(names).toEqual(['events.ndjson-00001.parquet', 'events.ndjson-00002.parquet']);
      const read = async (name: string) => parquetReadObjects({ file: await asyncBufferFromFile(join(folder, name)) });
      const rows = (await Promise.all(names.map(read))).flat();
      expect(rows.map(({ properties }) => JSON.parse(String(properties)).number)).toEqual(ALL);
    }
  });

  it('waits for a service that is away for a while', async () => {
    let failures = 0;
    trouble = (page, response) => {
      if (page.get('cursor') !== '200' || failures === 3) return false;
      failures += 1;
      if (failures === 1) response.destroy();
      else answer(response, 503, unavailable);
      return true;
    };
    const ran = await exported(['--output', file()]);
    expect([ran.code, failures]).toEqual([0, 3]);
    expect(await numbersIn(file())).toEqual(ALL);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('interrupted, says how it goes on (%s)', async (signal) => {
    trouble = (_page, _response, number) => number > 2;
    const run = start(['--output', file()]);
    await until(() => asked.length === 3);
    run.child.kill(signal);
    const ran = await run.ended;
    expect([ran.code, JSON.parse(ran.out).rows]).toEqual([130, 400]);
    expect(ran.said).toBe('Interrupted after 400 events. The same command goes on from there.\n');
    expect((await readdir(folder)).sort()).toEqual(['events.ndjson.part', 'events.ndjson.state.json']);
    trouble = () => false;
    expect((await exported(['--output', file()])).code).toBe(0);
    expect(await numbersIn(file())).toEqual(ALL);
  });

  it('refuses to go on with other options, with a changed part, or where the state is something else', async () => {
    const args = ['--output', file()];
    await interrupted(args);
    for (const [other, option] of [
      [['--format', 'parquet'], '--format'],
      [['--from', '2026-01-01'], '--from'],
      [['--to', '2026-01-31'], '--to'],
      [['--unmask'], '--unmask'],
    ] as const) {
      const refused = await exported([...args, ...other]);
      expect([refused.code, refused.said]).toEqual([2, expect.stringContaining(`with another ${option}.`)]);
    }
    const part = await readFile(`${file()}.part`);
    await writeFile(`${file()}.part`, part.subarray(0, -1));
    expect(await exported(args)).toMatchObject({
      code: 2,
      said: expect.stringContaining('is not as the interrupted run'),
    });
    await writeFile(`${file()}.part`, `${part.toString().replace('"number":399', '"number":398')}{"half":`);
    expect(await exported(args)).toMatchObject({ code: 2, said: expect.stringContaining('--restart') });
    await writeFile(`${file()}.part`, `${part.toString()}{"half":`);
    const ran = await exported(args);
    expect([ran.code, await numbersIn(file())]).toEqual([0, ALL]);
    await writeFile(`${file()}.state.json`, '{}');
    expect((await exported([...args, '--force'])).code).toBe(2);
  });

  it('begins anew with --restart, and removes the Parquet files of the interrupted run', async () => {
    const args = ['--output', file(), '--format', 'parquet', '--rows-per-file', '100'];
    await interrupted(args, 200);
    expect((await readdir(folder)).filter((name) => name.endsWith('.parquet'))).toHaveLength(2);
    // Of a run that was killed.
    await writeFile(join(folder, 'events.ndjson-00003.parquet.part'), 'PAR1');
    const ran = await exported(['--output', file(), '--format', 'parquet', '--restart']);
    expect([ran.code, JSON.parse(ran.out)]).toMatchObject([0, { rows: EVENTS, runs: 1 }]);
    expect(await readdir(folder)).toEqual(['events.ndjson-00001.parquet']);
  });

  it('completes what a kill has left between the last event and the name of the file', async () => {
    await interrupted(['--output', file()]);
    await exported(['--output', file()]);
    const whole = await readFile(file());
    await interrupted(['--output', file(), '--force']);
    const state = JSON.parse(await readFile(`${file()}.state.json`, 'utf8'));
    const position = { rows: EVENTS, cursor: null, isComplete: true, receivedAt: null };
    for (const leftPart of [true, false]) {
      await writeFile(`${file()}.state.json`, JSON.stringify({ ...state, position }));
      await rm(`${file()}.part`, { force: true });
      if (leftPart) await rm(file());
      await writeFile(leftPart ? `${file()}.part` : file(), whole);
      expect(await exported(['--output', file()])).toMatchObject({ code: 0 });
      expect(await numbersIn(file())).toEqual(ALL);
      expect(await readdir(folder)).toEqual(['events.ndjson']);
    }
  });

  it.each([
    ['ndjson', 'events.ndjson'],
    ['parquet', 'events.ndjson-00007.parquet'],
  ])('replaces nothing unless it is told to (%s)', async (format, name) => {
    const args = ['--output', file(), '--format', format];
    await writeFile(join(folder, name), 'mine');
    expect(await exported(args)).toMatchObject({ code: 2, said: expect.stringContaining('--force') });
    expect(await readFile(join(folder, name), 'utf8')).toBe('mine');
    expect((await exported([...args, '--force'])).code).toBe(0);
    expect(await readdir(folder)).toEqual([name.replace('00007', '00001')]);
  });

  it.each([
    ['that has begun', 1],
    ['that has come far', 3],
  ])('refuses another run that writes the same output, beside one %s', async (_, held) => {
    let release = (): void => undefined;
    trouble = (page, response, number) => {
      if (number !== held) return false;
      release = () => answer(response, 200, pageOf(page));
      return true;
    };
    const first = start(['--output', file()]);
    await until(() => asked.length === held);
    for (const more of [[], ['--restart'], ['--state', join(folder, 'other.json')]]) {
      const second = await exported(['--output', file(), ...more]);
      expect([second.code, second.out]).toEqual([2, '']);
      expect(second.said).toContain(`Another run (pid ${first.child.pid}) is writing ${file()}.`);
    }
    release();
    expect((await first.ended).code).toBe(0);
    expect(await numbersIn(file())).toEqual(ALL);
    expect(await readdir(folder)).toEqual(['events.ndjson']);
  });

  it('refuses another run that makes the same Parquet files under the name without .parquet', async () => {
    let release = (): void => undefined;
    trouble = (page, response) => {
      release = () => answer(response, 200, pageOf(page));
      return true;
    };
    const output = join(folder, 'events');
    const first = start(['--format', 'parquet', '--output', `${output}.parquet`]);
    await until(() => asked.length === 1);
    trouble = (_, response) => {
      answer(response, 401, { error_code: 'invalid_api_key', message: 'Another key.' });
      return true;
    };
    const second = await exported(['--format', 'parquet', '--output', output]);
    trouble = () => false;
    expect(second).toMatchObject({ code: 2, said: expect.stringContaining(`is writing ${output}.parquet.`) });
    release();
    expect((await first.ended).code).toBe(0);
    expect(await readdir(folder)).toEqual(['events-00001.parquet']);
  });

  it.each<[string, string[], RegExp]>([
    ['a time that is none', ['--from', 'yesterday'], /--from is no time: write it like 2026-01-02T03:04:05Z/],
    ['a time without an offset', ['--to', '2026-01-02T03:04:05'], /--to needs Z or an offset/],
    ['an end before the beginning', ['--from', '2026-01-02', '--to', '2026-01-02'], /--to must lie after --from/],
    ['an end in the future', ['--to', '2026-02-01T00:01:01Z'], /--to must not lie after 2026-02-01T00:00:00.000Z/],
    ['a beginning in the future', ['--from', '2026-03-01'], /--from must lie before 2026-02-01T00:00:00.000Z/],
    ['Parquet for standard output', ['--format', 'parquet'], /Name a file with --output/],
    ['a state of standard output', ['--state', 'x'], /need --output/],
    ['a state that is the output', ['--state', 'OUT', '--output', 'OUT'], /two different files/],
    ['no rows for a file', ['--rows-per-file', '0'], /1 to 10000000/],
    ['a folder that there is not', ['--output', 'OUT/there/events'], /cannot be written \(ENOENT\)/],
    ['a key among the arguments', ['--key', 'cds_secret'], /can be seen by every user/],
  ])('refuses %s', async (_, args, words) => {
    const ran = await exported(args.map((arg) => arg.replace('OUT', join(folder, 'out'))));
    expect([ran.code, ran.out, ran.said]).toEqual([2, '', expect.stringMatching(words)]);
    expect([asked.length, await readdir(folder)]).toEqual([0, []]);
  });

  it('puts no file in the place of a folder or a device, and says so before it reads', async () => {
    await symlink('/dev/null', join(folder, 'device'));
    await mkdir(join(folder, 'folder'));
    for (const name of ['device', 'folder']) {
      const { code, said } = await exported(['--output', join(folder, name), '--force']);
      expect([code, said]).toEqual([2, expect.stringContaining(`${name} is no regular file. Name another one`)]);
    }
    expect(asked).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(['device', 'folder']);
    expect(await readlink(join(folder, 'device'))).toBe('/dev/null');
  });

  it('waits until the events before --to are complete, and gives up where they never are', async () => {
    const args = ['--to', '2026-02-01T00:00:30Z'];
    trouble = (_page, _response, number) => {
      if (number === 3) completeBefore = '2026-02-01T00:00:30.000Z';
      return false;
    };
    expect(await exported(args)).toMatchObject({ code: 0, said: expect.stringContaining(`"rows":${EVENTS}`) });
    completeBefore = TO;
    const gaveUp = await exported([...args, '--retry-for', '1s']);
    expect([gaveUp.code, gaveUp.out, gaveUp.said]).toEqual([
      1,
      '',
      expect.stringContaining(`began at ${TO} still stores`),
    ]);
  });

  it('says that a server is not the service, and leaves nothing behind', async () => {
    trouble = (_page, response) => (answer(response, 200, { items: [] }), true);
    const ran = await exported(['--output', file()]);
    expect([ran.code, ran.said]).toEqual([1, expect.stringContaining('Is this the Campaign Data Service?')]);
    const away = await exported(['--output', file(), '--url', 'http://127.0.0.1:1', '--retry-for', '1s']);
    expect([away.code, away.said]).toEqual([1, expect.stringContaining('No service answers')]);
    expect(await readdir(folder)).toEqual([]);
  });

  const COMMANDS = { 'events export': '', 'state export': '--campaign spring' };

  it.each(Object.entries(COMMANDS))(
    '%s ends without words when nobody reads on, as with | head',
    async (command, args) => {
      stub.answer((_request, response) => {
        const items = Array.from({ length: 200 }, (_, number) => ({
          ...eventOf(number),
          sub: 'a',
          state: { user: {} },
        }));
        answer(response, 200, { items, nextCursor: 'more', completeBefore });
      });
      const ran = await runScript(environment(), `$CDS ${command} ${args} | head -n 2; echo "\${PIPESTATUS[0]}"`);
      const lines = ran.out.split('\n');
      expect(lines.slice(0, 2).map((line) => typeof JSON.parse(line))).toEqual(['object', 'object']);
      expect([lines.slice(2), ran.said]).toEqual([['141'], '']);
      const full = await runScript(environment(), `$CDS ${command} ${args} > /dev/full`);
      expect([full.code, full.said]).toEqual([
        1,
        expect.stringContaining('Standard output cannot be written (ENOSPC).'),
      ]);
    },
  );

  it('stops at a disk that is full, and goes on when there is room', async () => {
    // A file may not have more than 100 KiB: the system refuses to write on, as it does on a full disk.
    const script = `trap '' XFSZ; ulimit -f 100; $CDS events export --json --output ${file()}`;
    const { code, said } = await runScript(environment(), script);
    expect([code, said]).toEqual([1, expect.stringContaining('events.ndjson.part cannot be written (EFBIG).')]);
    expect(existsSync(file())).toBe(false);
    expect((await exported(['--output', file()])).code).toBe(0);
    expect(await numbersIn(file())).toEqual(ALL);
  });

  it('leaves no part of a Parquet file that cannot be completed', async () => {
    const script = `trap '' XFSZ; ulimit -f 4; $CDS events export --json --format parquet --output ${file()}`;
    const { code, said } = await runScript(environment(), script);
    expect([code, said]).toEqual([1, expect.stringContaining('.parquet.part cannot be written (EFBIG).')]);
    expect(await readdir(folder)).toEqual([]);
  });
});
