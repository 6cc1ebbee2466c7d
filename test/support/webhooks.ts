import type { IncomingHttpHeaders } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import { DeliveryMaintenance } from '../../src/webhooks/delivery/delivery-maintenance';
import type { Client } from './client';
import { rowsOf } from './database';
import { startHttpStub, type HttpStub } from './http-stub';
import { until } from './until';

/** A call as the receiver got it. */
export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came, for the verification of signatures. */
  readonly text: string;
  readonly body: any;
  readonly atMs: number;
}

/** How a call is answered; undefined: never; `lost`: the connection is cut instead. */
export type CallAnswer =
  { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> } | 'lost' | undefined;

/** A receiver of webhooks on a free port of loopback. */
export interface Receiver {
  readonly url: string;
  readonly calls: readonly ReceivedCall[];
  readonly stub: HttpStub;
  /** From now on. */
  answer(rule: (call: ReceivedCall) => CallAnswer | Promise<CallAnswer>): void;
  /** Once there are so many calls, or those that fit. */
  until(calls: number, fits?: (call: ReceivedCall) => boolean): Promise<readonly ReceivedCall[]>;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const calls: ReceivedCall[] = [];
  let rule: (call: ReceivedCall) => CallAnswer | Promise<CallAnswer> = () => ({ status: 204 });
  const stub = await startHttpStub((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    const respond = async (): Promise<void> => {
      const text = Buffer.concat(parts).toString();
      const { url: path = '', headers } = request;
      const call = { path, headers, text, body: JSON.parse(text), atMs: Date.now() };
      calls.push(call);
      const answer = await rule(call);
      if (answer === 'lost') request.socket.destroy();
      else if (answer !== undefined) response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
    };
    request.on('end', () => void respond());
  });
  return {
    url: `http://127.0.0.1:${stub.port}`,
    calls,
    stub,
    answer: (next) => {
      rule = next;
    },
    until: async (most, fits = () => true) => {
      await until(() => calls.filter(fits).length >= most);
      return calls.filter(fits);
    },
    stop: () => stub.stop(),
  };
}

/** Creates an endpoint for purchases; returns its id and secret. */
export async function aWebhook(
  client: Client,
  url: string,
  fields: object = {},
): Promise<{ readonly id: string; readonly secret: string }> {
  const body = { url, events: [{ eventType: 'purchase' }], ...fields };
  const answer = await client.post('/v1/webhooks', body);
  if (answer.status !== 201) throw new Error(`No webhook was created: ${JSON.stringify(answer.body)}`);
  return { id: answer.body.webhook.id, secret: answer.body.secret };
}

/** The numbers in `attributes.n` of the calls, in the order in which they came. */
export function numbersOf(calls: readonly ReceivedCall[]): number[] {
  return calls.map(({ body }) => body.data.properties.n);
}

/** Starts a replay of everything that was received until now; returns its path. */
export async function startReplay(client: Client, id: string, range: object = {}): Promise<string> {
  const { status, body } = await client.post(`/v1/webhooks/${id}:replay`, { ...ALL_OF_LATE, ...range });
  if (status !== 202) throw new Error(`The replay was refused: ${JSON.stringify(body)}`);
  return `/v1/webhooks/${id}/replays/${body.jobId}`;
}

/** From half a year ago on: a range has at most 366 days. */
export const ALL_OF_LATE = {
  from: new Date(Date.now() - 180 * 86_400_000).toISOString(),
  to: '2999-01-01T00:00:00Z',
};

/** The replay once it is over. `clientOf`: the service may be another process by then. */
export async function replayOnce(clientOf: () => Client, path: string, seconds = 60): Promise<any> {
  let found: any;
  await until(async () => {
    found = (await clientOf().get(path)).body;
    return !['queued', 'running'].includes(found.state);
  }, seconds);
  return found;
}

/** Lets the deliveries of an endpoint be due at once, as time would. */
export async function makeDue(databaseUrl: string, webhookId: string): Promise<void> {
  await rowsOf(databaseUrl, 'UPDATE webhook_queues SET due_at = now() WHERE endpoint_id = $1 AND claim_id IS NULL', [
    webhookId,
  ]);
}

/** Does to the end what the jobs of each hour do with the deliveries of all workspaces. */
export async function keepUpDeliveries(node: INestApplicationContext): Promise<void> {
  const maintenance = node.get(DeliveryMaintenance);
  for await (const _step of maintenance.expireDeliveries({}));
  for await (const _step of maintenance.expireChanges({}));
  await maintenance.endFailing();
}
