import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { DomainError } from '../platform/errors/domain-error';
import { problemDetails, problemHeaders } from '../platform/errors/problem-details';
import { requestIdOf } from '../platform/http/request-id';

const LOOK_MS = 1_000;
const LIVE_PATH = '/health/live';
const PENDING = new DomainError(
  'unavailable',
  'Migrations of the database are pending, and the service waits for them. Run npm run migrate.',
);

/** Where the service listens, and how it is found out whether it may begin. */
export interface StandbyServerOptions {
  readonly port: number;
  readonly host: string;
  /** How many migrations are pending. */
  readonly pending: () => Promise<number>;
}

export interface StandbyServer {
  readonly server: Server;
  /** Waits until nothing is pending and frees its port, which it answers; undefined when it was closed before. */
  over(): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * Stands where the service will be while migrations are pending (`MIGRATE_ON_START=false`): alive, not ready, and refusing
 * everything else, because nothing of this version knows the tables as they are.
 */
export async function openStandbyServer({ port, host, pending }: StandbyServerOptions): Promise<StandbyServer> {
  const server = createServer(answer);
  server.listen(port, host);
  await once(server, 'listening');
  const closed = new AbortController();
  const close = async (): Promise<void> => {
    closed.abort();
    if (!server.listening) return;
    const done = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await done;
  };
  const { port: boundPort } = server.address() as AddressInfo;
  const over = async (): Promise<number | undefined> => {
    for (;;) {
      await wait(LOOK_MS, undefined, { signal: closed.signal }).catch(() => undefined);
      if (closed.signal.aborted) return undefined;
      // The database may go away meanwhile: then it is not known, and waited on.
      if ((await pending().catch(() => 1)) > 0) continue;
      await close();
      return boundPort;
    }
  };
  return { server, over, close };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  // The connection would be lost when the service takes the port over.
  response.shouldKeepAlive = false;
  const requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', requestId);
  if (request.url === LIVE_PATH) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end('{"status":"ok"}\n');
    return;
  }
  response.writeHead(503, problemHeaders(PENDING));
  response.end(`${JSON.stringify(problemDetails(PENDING, requestId))}\n`);
}
