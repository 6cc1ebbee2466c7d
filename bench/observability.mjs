// npm run build && node bench/observability.mjs
//
// What watching a request costs: the counters of an event and the histogram of a request, and the line in the log.
import { openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';

const require = createRequire(import.meta.url);
const { Metrics } = require('../dist/src/platform/observability/metrics.js');
const { RequestObserver } = require('../dist/src/platform/observability/request-observer.js');
const { IngestFigures } = require('../dist/src/ingest/ingest-figures.js');
const { JsonLogger } = require('../dist/src/platform/observability/logger.js');
const { Tracing } = require('../dist/src/platform/observability/tracing.js');

const TIMES = 200_000;
const ROUNDS = 7;

const metrics = new Metrics();
const observer = new RequestObserver(metrics, new Tracing({}));
const figures = new IngestFigures(metrics);
const request = { method: 'POST', headers: {}, route: { path: '/v1/external-events' }, caller: { tenantId: 'a' } };
const results = [{ status: 'accepted', eventId: 'x' }];
const silent = observer.middleware({ request: () => undefined });
const logger = new JsonLogger('info', openSync('/dev/null', 'w'));
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
  'line of one request, to /dev/null': () =>
    logger.request('info', {
      ...line,
      method: 'POST',
      route: '/v1/external-events',
      status: 202,
      gone: undefined,
      ms: 1.5,
    }),
};

for (const [name, work] of Object.entries(cases)) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    for (let time = 0; time < TIMES; time += 1) work();
    return ((performance.now() - startedAt) * 1_000) / TIMES;
  });
  const median = rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  process.stdout.write(`${name}: ${median.toFixed(2)} µs\n`);
}
