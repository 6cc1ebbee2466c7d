import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient } from '../support/client';

let service: TestApp;

beforeAll(async () => {
  service = await startApp();
});
afterAll(() => service.stop());

it('a batch is not kept for an answer that its client may read slowly, be it stored or refused', async () => {
  const client = await aClient(service);
  const kept: unknown[] = [];
  const server: Server = service.app.getHttpServer();
  server.on('request', (request: IncomingMessage & { sentEvents?: unknown }, response: ServerResponse) => {
    response.on('finish', () => kept.push(request.sentEvents));
  });
  const items = [anExternalEvent(), {}];
  expect((await client.post('/v1/external-events:batch', { items })).status).toBe(200);
  expect((await client.post('/v1/external-events:batch?unknown=1', { items })).status).toBe(422);
  expect(kept).toEqual([undefined, undefined]);
});
