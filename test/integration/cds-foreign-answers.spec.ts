import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noBackfillProgress } from '../../src/cli/reactions/backfill-progress-bar';
import { runBackfill } from '../../src/cli/reactions/run-backfill';
import { RunningService } from '../../src/cli/running-service';
import { ChangeFollower } from '../../src/cli/webhooks/followed-changes';

/** What a proxy answers while the service is away. */
const MAINTENANCE = { status: 'ok' };
const NOT_THE_SERVICE = /answered 200\. Is this the Campaign Data Service\?/;
const signal = new AbortController().signal;

let server: Server;
let url: string;
/** By the method of the request. */
let answers: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.method ?? '']));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => void server.close());

describe('a success of another server', () => {
  it.each([
    ['at its start', { POST: MAINTENANCE, GET: MAINTENANCE }],
    ['while it is watched', { POST: { jobId: '01a223d5-926a-70d8-bdbf-3dcb88ff3978' }, GET: MAINTENANCE }],
  ])('is not the end of a backfill, %s', async (_when, given) => {
    answers = given;
    const options = { url, key: 'x'.repeat(40), campaignId: 'spring', name: 'reward', range: {}, retryForMs: 0 };
    const stopping = { soon: signal, now: signal, dispose: () => undefined };
    const running = runBackfill(options, { progress: noBackfillProgress, stopping });
    await expect(running).rejects.toThrow(NOT_THE_SERVICE);
  });

  it.each([MAINTENANCE, { items: [MAINTENANCE], nextCursor: null }])('is no history of changes: %j', async (given) => {
    answers = { GET: given };
    const follower = new ChangeFollower({ campaignId: 'spring', participant: 'ann' }, '2026-01-01T00:00:00.000Z');
    const service = new RunningService(url, 'x'.repeat(40), { credential: '', unreachable: '' }, {});
    await expect(follower.next(service, true, signal)).rejects.toThrow(NOT_THE_SERVICE);
  });
});
