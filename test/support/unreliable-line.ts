import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What was sent through the line. */
export interface Sent {
  readonly path: string;
  readonly bytes: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: any;
  readonly atMs: number;
}

/** What happens to a request: an answer of our own, or the service's answer lost on its way back. */
export type Mishap =
  | { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly body?: unknown }
  | 'answer lost'
  | 'half an answer';

/** A proxy between a client and the service that loses given requests and answers. */
export interface UnreliableLine {
  readonly url: string;
  readonly sent: readonly Sent[];
  /** The most requests that were under way at once. */
  readonly mostAtOnce: () => number;
  /** Each befalls one request, in their order; those after them pass. */
  next(...mishaps: readonly Mishap[]): void;
  close(): Promise<void>;
}

export async function startUnreliableLine(serviceUrl: string): Promise<UnreliableLine> {
  const sent: Sent[] = [];
  const due: Mishap[] = [];
  let [underWay, mostAtOnce] = [0, 0];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = request;
    const body = bytes.length === 0 ? undefined : JSON.parse(bytes.toString());
    sent.push({ path, bytes: bytes.length, headers, body, atMs: performance.now() });
    const mishap = due.shift();
    if (typeof mishap === 'object') {
      response.writeHead(mishap.status, { 'content-type': 'application/problem+json', ...mishap.headers });
      return void response.end(mishap.body === undefined ? '' : JSON.stringify(mishap.body));
    }
    const { authorization = '', 'content-type': type = 'application/json', 'x-workspace': workspace } = headers;
    const answer = await fetch(`${serviceUrl}${path}`, {
      method,
      headers: {
        authorization,
        'content-type': type,
        ...(typeof workspace === 'string' ? { 'x-workspace': workspace } : {}),
      },
      ...(method === 'GET' ? {} : { body: bytes }),
    });
    const text = await answer.text();
    // The service has answered: what it did is done.
    if (mishap === 'answer lost') return void request.socket.destroy();
    response.writeHead(answer.status, Object.fromEntries([...answer.headers].filter(([name]) => !HOP.includes(name))));
    if (mishap !== 'half an answer') return void response.end(text);
    response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
  };
  const server = createServer((request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    void pass(request, response)
      .catch(() => request.socket.destroy())
      .finally(() => underWay--);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    mostAtOnce: () => mostAtOnce,
    next: (...mishaps) => void due.push(...mishaps),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Of one connection; the other has its own. */
const HOP = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'content-encoding'];
