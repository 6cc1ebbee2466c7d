import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { DomainError } from '../platform/errors/domain-error';
import { problemDetails, problemHeaders } from '../platform/errors/problem-details';
import { requestIdOf } from '../platform/http/request-id';
import { listening } from './listening';

const POLL_MS = 1_000;
const LIVE_PATH = '/health/live';
const PENDING = new DomainError(
  'unavailable',
  'Migrations of the database are pending, and the service waits for them. Run npm run migrate.',
);

/** Where the service listens, and how to find out whether it can start. */
export interface StandbyServerOptions {
  readonly port: number;
  readonly host: string;
  /** How many migrations are pending. */
  readonly pending: () => Promise<number>;
}

export interface StandbyServer {
  readonly server: Server;
  /** Waits until no migration is pending, closes the server and returns its port. Undefined when it was closed before. */
  untilMigrated(): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * Listens on the service's port while migrations are pending (`MIGRATE_ON_START=false`). It is alive but not ready, and
 * answers every other request with 503: this version of the code does not fit the old tables.
 */
export async function openStandbyServer({ port, host, pending }: StandbyServerOptions): Promise<StandbyServer> {
  const server = createServer(answer);
  server.listen(port, host);
  await listening(once(server, 'listening'), { port, host });
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
  const untilMigrated = async (): Promise<number | undefined> => {
    for (;;) {
      await wait(POLL_MS, undefined, { signal: closed.signal }).catch(() => undefined);
      if (closed.signal.aborted) return undefined;
      // When the database is away, the number is unknown and the wait goes on.
      if ((await pending().catch(() => 1)) > 0) continue;
      await close();
      return boundPort;
    }
  };
  return { server, untilMigrated, close };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  // Connections cannot be handed over to the service.
  response.shouldKeepAlive = false;
  const requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', requestId);
  if (request.url?.split('?', 1)[0] === LIVE_PATH) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.end('{"status":"ok"}\n');
    return;
  }
  response.writeHead(503, problemHeaders(PENDING));
  response.end(`${JSON.stringify(problemDetails(PENDING, requestId))}\n`);
}
