// npm run build && node bench/observability.mjs
//
// What watching a request costs: the counters of an event and the histogram of a request, and the line in the log. In CPU time, since a shared machine tells nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers';

const require = createRequire(import.meta.url);
const { Metrics } = require('../dist/src/platform/observability/metrics.js');
const { RequestObserver } = require('../dist/src/platform/http/server/request-observer.js');
const { IngestMetrics } = require('../dist/src/ingest/http/ingest-metrics.js');
const { JsonLogger } = require('../dist/src/platform/observability/logger.js');
const { Tracing } = require('../dist/src/platform/observability/tracing.js');

const TIMES = 100_000;
const ROUNDS = 7;

const metrics = new Metrics();
const observer = new RequestObserver(metrics, new Tracing({}));
const figures = new IngestMetrics(metrics);
const request = { method: 'POST', headers: {}, route: { path: '/v1/external-events' }, caller: { tenantId: 'a' } };
const results = [{ status: 'accepted', eventId: 'x' }];
const silent = observer.middleware({ request: () => undefined });
const folder = mkdtempSync(join(tmpdir(), 'cds-bench-'));
const logger = new JsonLogger('info', join(folder, 'log'));
const line = { requestId: 'f47ac10b-58cc-4372-a567-0e02b2c3d479', workspace: 'f47ac10b-58cc-4372-a567-0e02b2c3d480' };

/** A request, with a response that ends at once. */
function observe(middleware) {
  let end;
  const response = { statusCode: 202, writableFinished: true, once: (_event, listener) => (end = listener) };
  middleware(request, response, () => undefined);
  end();
}

const cases = {
  'counters of one event': () => figures.settled('external', results),
  'middleware and histogram of one request': () => observe(silent),
  both: () => {
    observe(silent);
    figures.settled('external', results);
  },
  'line of one request, into a file, the lines of 20 at once': () =>
    logger.request('info', {
      ...line,
      method: 'POST',
      route: '/v1/external-events',
      status: 202,
      gone: undefined,
      ms: 1.5,
    }),
};

/** Requests that end in one turn of the event loop. */
const AT_ONCE = 20;

for (const [name, work] of Object.entries(cases)) {
  const rounds = [];
  while (rounds.length < ROUNDS) rounds.push(await round(work));
  const median = rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  process.stdout.write(`${name}: ${median.toFixed(2)} µs\n`);
}
rmSync(folder, { recursive: true });

/** Microseconds of CPU a time, with its share of a turn. */
async function round(work) {
  const before = process.cpuUsage();
  for (let time = 0; time < TIMES; time += AT_ONCE) {
    for (let each = 0; each < AT_ONCE; each += 1) work();
    await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / TIMES;
}
