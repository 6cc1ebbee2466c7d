import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerIdentity } from './self-signed';

/** A foreign server on a free port of loopback, which answers by a given function. */
export interface HttpStub {
  readonly port: number;
  /** Opened so far, whether or not a request came through them. */
  readonly connections: () => number;
  /** Those that have come so far. */
  readonly requests: readonly IncomingMessage[];
  /** From now on. */
  answer(listener: RequestListener): void;
  stop(): Promise<void>;
}

export async function startHttpStub(first: RequestListener, identity?: ServerIdentity): Promise<HttpStub> {
  let listener = first;
  let connections = 0;
  const requests: IncomingMessage[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    listener(request, response);
  };
  const server = identity === undefined ? createHttpServer(answer) : createHttpsServer({ ...identity }, answer);
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    requests,
    answer: (next) => {
      listener = next;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export function answerJson(value: unknown): RequestListener {
  return (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  };
}
