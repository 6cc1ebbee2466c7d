import type { IncomingMessage } from 'node:http';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startHttpStub, type HttpStub } from '../support/http-stub';
import { runNode } from '../support/run-node';

const ROOT = join(__dirname, '..', '..');
const ANSWER_AFTER_MS = 4;
const ALIKE = 8;
/** In which a loaded machine too sends a few more of each kind. */
const ENOUGH_SECONDS = 4;
const TOKENS = ['one', 'two', 'three'];
const HEADERS = { Authorization: 'Bearer key' };

/** Of every kind, as scenarios send them; each goes to a path of its own. */
const REQUESTS = {
  fixed: { headers: HEADERS },
  cycle: { paths: TOKENS.map(() => '/cycle'), headers: {}, tokens: TOKENS },
  event: { headers: HEADERS },
  batch: { headers: HEADERS, items: 3 },
  knownEvent: { headers: HEADERS, prefix: 'known', count: 7 },
  increment: { headers: {}, tokens: TOKENS, target: 'state.campaign.counter' },
  parseObject: { headers: { 'X-Parse-Application-Id': 'bench' } },
};

/** Sends each request over one connection, all of them at once, and prints what `runLoad` answers. */
const PROGRAM = `
  import { loadTool } from './bench/load/load-tool.mjs';
  import { runLoad } from './bench/load/run-load.mjs';
  const [name, url, warmUpSeconds, seconds, requests] = process.argv.slice(1);
  const one = { url, pid: process.pid };
  const load = (request) =>
    runLoad(
      { service: one, server: one, tool: loadTool(name) },
      { connections: 1, warmUpSeconds: Number(warmUpSeconds), seconds: Number(seconds), request, expect: [202] },
    );
  process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(requests).map(load))));
`;

interface Sent {
  readonly what: unknown;
  readonly body: string;
}

let stub: HttpStub;
let sent: Map<string, Sent[]>;
let status: () => number;

beforeAll(async () => {
  stub = await startHttpStub((request, response) => {
    void text(request).then((body) => {
      remember(request, body);
      setTimeout(() => response.writeHead(status()).end('{}'), ANSWER_AFTER_MS);
    });
  });
});

afterAll(() => stub.stop());

function remember({ method, url = '', rawHeaders }: IncomingMessage, body: string): void {
  const all = sent.get(url) ?? [];
  all.push({ what: { method, rawHeaders }, body });
  sent.set(url, all);
}

async function loadBy(
  tool: string,
  kinds: readonly string[],
  { warmUp = 0, seconds = 1, answer = (): number => 202 } = {},
) {
  sent = new Map();
  status = answer;
  const requests = kinds.map((kind) => ({ kind, path: `/${kind}`, ...REQUESTS[kind as keyof typeof REQUESTS] }));
  const url = `http://127.0.0.1:${stub.port}`;
  const args = [
    '--input-type=module',
    '-e',
    PROGRAM,
    tool,
    url,
    String(warmUp),
    String(seconds),
    JSON.stringify(requests),
  ];
  return JSON.parse(await runNode(ROOT, args)) as Record<string, number>[];
}

/** What was sent, without the names that no two runs share. */
function shapes(kind: string): unknown {
  return JSON.parse(JSON.stringify(sent.get(`/${kind}`)).replaceAll(/\b[0-9a-f]{12}-/g, 'UNIQUE-'));
}

function eventIds(kind: string): string[] {
  const bodies = sent.get(`/${kind}`)!.map(({ body }) => JSON.parse(body));
  return bodies.flatMap((body) => body.items ?? [body]).map((item) => item.external_event_id);
}

const wrk = spawnSync('wrk', ['-v']).error === undefined;
const TOOLS = ['autocannon', ...(wrk ? ['wrk'] : [])];

describe.each(TOOLS)('the load of the benchmark, made by %s', (tool) => {
  let measured: Record<string, number>;

  beforeAll(async () => {
    [measured = {}] = await loadBy(tool, ['event', 'batch', 'knownEvent'], { warmUp: 1 });
  });

  it.each(['event', 'batch'])('is of new events each time, through the warm-up and the measurement: %s', (kind) => {
    const ids = eventIds(kind);
    expect(ids.length).toBeGreaterThan(ALIKE);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('goes through the known events again and again, each the same', () => {
    expect(new Set(sent.get('/knownEvent')!.map(({ body }) => body)).size).toBe(REQUESTS.knownEvent.count);
  });

  it('tells how many were answered a second, and after how long', () => {
    expect(measured['rate']).toBeGreaterThan(0);
    expect(measured['rate']).toBeLessThan(1_000 / (ANSWER_AFTER_MS - 1));
    expect(measured['p50']).toBeGreaterThan(ANSWER_AFTER_MS - 1);
    expect(measured['p99']).toBeGreaterThanOrEqual(measured['p50']!);
  });

  it('is void when one answer is not what was expected', async () => {
    let answered = 0;
    const other = () => (++answered === 3 ? 200 : 202);
    const loaded = loadBy(tool, ['event'], { answer: other });
    await expect(loaded).rejects.toThrow(/Unexpected answers .*\[\["?200"?,1\]\]/);
  });
});

describe('the two tools', () => {
  (wrk ? it : it.skip)('send the same, letter for letter', async () => {
    const kinds = Object.keys(REQUESTS);
    await loadBy('autocannon', kinds, { seconds: ENOUGH_SECONDS });
    const byAutocannon = new Map(kinds.map((kind) => [kind, shapes(kind) as Sent[]]));
    await loadBy('wrk', kinds, { seconds: ENOUGH_SECONDS });
    for (const kind of kinds) {
      // wrk looks at the first and throws it away.
      expect((shapes(kind) as Sent[]).slice(0, ALIKE)).toEqual(byAutocannon.get(kind)!.slice(1, ALIKE + 1));
    }
  });
});
