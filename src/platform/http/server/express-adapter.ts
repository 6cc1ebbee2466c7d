import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Logger, StreamableFile } from '@nestjs/common';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import express, { type Express, type Request, type Response } from 'express';
import type { AuthenticatedRequest } from '../../auth/caller.decorator';
import { holdContinue } from '../body/receive-body';
import { leaveVerbsToTheirRoutes } from '../custom-method';
import { JSON_MEDIA_TYPE } from '../send-stream';
import { handleTogether, writeInOnePiece, oneAtATime } from './connections';
import { headFault, refuseHead, refuseUnparsed } from './malformed-http';
import { routeFallback } from './route-fallback';
import { UnsentAnswers, type UnsentLimits } from './unsent-answers';

/** Time for the head of a request to arrive: a slow client must not hold a connection open with one byte a minute. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Time for a whole request to arrive: 5 MiB at 1.4 Mbit/s. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two limits above are checked; Node's default of 30 s would extend 10 s to 40 s. */
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than the 60 s of usual load balancers, so that they close idle connections before the service does. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** A token of 8 KiB, and as much for all other headers. */
const HEADER_BYTES_MAX = 16 * 1024;
/** How often a closing server checks for connections whose last answer has been sent. */
const IDLE_SWEEP_MS = 50;
const LOGGED_EVERY_MS = 1_000;

/**
 * Nest's Express adapter on a server whose requests and responses are created with Express's prototypes, which takes half of
 * the service's CPU off a single event (see `createdAs` and bench/NOTES.md). With the service's limits, and without ETags and the like.
 */
export class ApiExpressAdapter extends ExpressAdapter {
  private addLastRoutes: () => void = () => undefined;
  private isDraining = false;

  constructor(private readonly unsentLimits: Partial<UnsentLimits> = {}) {
    super(quietExpress());
  }

  override initHttpServer(options?: NestApplicationOptions): void {
    if (options?.httpsOptions) throw new Error('TLS is terminated in front of this service.');
    this.httpServer = expressServer(this.getInstance<Express>(), {
      unsentLimits: this.unsentLimits,
      isDraining: () => this.isDraining,
    });
  }

  /** Does nothing: bodies are read after credential and scope were checked (contract section 1), never by a middleware. */
  override registerParserMiddleware(): void {}

  /** Adds routes after those of all controllers, because Express compares a request with each earlier route. */
  setLastRoutes(add: () => void): void {
    this.addLastRoutes = add;
  }

  /** Replaces Nest's own 404 after all routes by one that also knows 405. It refuses through the exception filter. */
  override setNotFoundHandler(): void {
    this.addLastRoutes();
    const app = this.getInstance<Express>();
    app.use(routeFallback(app.router as unknown as Parameters<typeof routeFallback>[0]));
  }

  /** Sends plain data directly: `res.json()` takes twice the time, for settings that are off here. */
  override reply(response: ServerResponse, body: unknown, statusCode?: number): unknown {
    if (!isPlainData(body)) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', JSON_MEDIA_TYPE);
    // The newline is for terminals.
    return response.end(`${JSON.stringify(body)}\n`);
  }

  /**
   * From now on each answer has `Connection: close`. Requests are answered for another `delayMs`; then `close`. So clients with
   * kept connections are informed, and never send a request into a closed one.
   */
  async drain(delayMs: number): Promise<void> {
    this.isDraining = true;
    await wait(delayMs);
    await this.close();
  }

  /** Resolves when the last answer is sent. Idle connections are closed, so that they do not delay a stop for 65 s. */
  override async close(): Promise<void> {
    const closing = super.close();
    const sweep = setInterval(() => this.httpServer.closeIdleConnections(), IDLE_SWEEP_MS);
    await closing;
    clearInterval(sweep);
  }
}

/** The adapter of an application that was created with it. */
export function apiAdapterOf(app: NestExpressApplication): ApiExpressAdapter {
  const adapter = app.getHttpAdapter();
  if (!(adapter instanceof ApiExpressAdapter)) throw new Error('Make the application with ApiExpressAdapter');
  return adapter;
}

function isPlainData(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return !(body instanceof StreamableFile || body instanceof Error || ArrayBuffer.isView(body));
}

function quietExpress(): Express {
  const app = express();
  app.disable('x-powered-by');
  // An ETag costs a hash of every answer, and no client uses conditional requests.
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');
  forgetPortsOfClients(app);
  leaveVerbsToTheirRoutes(app);
  return app;
}

/** `192.0.2.1:5678`, `[2001:db8::1]:5678` or `[2001:db8::1]` */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

/** Some proxies forward the address of a client with its port, which is another one for each connection. */
function forgetPortsOfClients(app: Express): void {
  Object.defineProperty(app.request, 'ip', {
    get(this: Request): string | undefined {
      const forwarded = Reflect.get(express.request, 'ip', this);
      const [, six, four] = WITH_PORT.exec(forwarded ?? '') ?? [];
      return six ?? four ?? forwarded;
    },
  });
}

interface ServerOptions {
  readonly unsentLimits: Partial<UnsentLimits>;
  readonly isDraining: () => boolean;
}

function expressServer(app: Express, { unsentLimits, isDraining }: ServerOptions): Server {
  const Requests = createdAs<typeof IncomingMessage>(NotedRequest, app.request);
  const Responses = createdAs<typeof ServerResponse>(ServerResponse, app.response);
  app.request = Requests.prototype as Request;
  app.response = Responses.prototype as Response;
  closeConnectionsWhile(isDraining, Responses.prototype as ServerResponse);
  const server = createServer(
    {
      IncomingMessage: Requests,
      ServerResponse: Responses,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // `headFault` checks it, and it is answered with a problem document.
      requireHostHeader: false,
    },
    oneAtATime(
      handleTogether((request: IncomingMessage, response: ServerResponse) => {
        const fault = headFault(request);
        if (fault === undefined) app(request as Request, response as Response);
        else refuseHead(response, fault);
      }),
    ),
  );
  const unsent = new UnsentAnswers(unsentLimits, logClosed(new Logger('Connections')));
  server.on('connection', (socket) => writeInOnePiece(socket, (written) => unsent.note(written)));
  server.on('clientError', refuseUnparsed);
  // The body is requested only after the credential was checked; see `sendContinue`.
  server.on('checkContinue', (request, response) => {
    holdContinue(request, response);
    server.emit('request', request, response);
  });
  // RFC 9110 lets a server ignore an unknown expectation; Node's own 417 would not be a problem document.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  return server;
}

type NotedField = Exclude<keyof AuthenticatedRequest, keyof Request>;

/**
 * Has the fields of `AuthenticatedRequest` from the beginning; a missing one does not compile. Each that is added later changes
 * the object's hidden class, which costs 5 % of the service's CPU for a read of state (bench/NOTES.md).
 */
class NotedRequest extends IncomingMessage implements Record<NotedField, undefined> {
  requestId = undefined;
  mountPath = undefined;
  awaitingContinue = undefined;
  expectedDigests = undefined;
  checkCredential = undefined;
  rateLimitMeters = undefined;
  caller = undefined;
  sessionCaller = undefined;
  participant = undefined;
}

/**
 * A subclass of a class of Node whose prototype replaces Express's own.
 *
 * Express calls `Object.setPrototypeOf` on both objects of every request. Changing the prototype of an object makes V8 discard
 * its hidden class for each request; setting the same prototype returns at once. It must be a subclass: V8 reserves space in an
 * object by the constructors of its class, and without it the object becomes a dictionary, which costs 10 µs per request.
 */
function createdAs<Parent extends abstract new (...args: never[]) => object>(
  parent: Parent,
  prototype: object,
): Parent {
  const Born = class extends (parent as unknown as new () => object) {};
  Object.setPrototypeOf(Born.prototype, prototype);
  return Born as unknown as Parent;
}

/** While `isDraining`, answers have `Connection: close`, also for earlier requests: Node reads this when it writes the head. */
function closeConnectionsWhile(isDraining: () => boolean, responses: ServerResponse): void {
  const writeHead = Reflect.get(responses, 'writeHead') as (...head: unknown[]) => ServerResponse;
  responses.writeHead = function (this: ServerResponse, ...head: unknown[]) {
    if (isDraining()) this.shouldKeepAlive = false;
    return Reflect.apply(writeHead, this, head);
  };
}

/** At most one line per second, because clients cause them. */
function logClosed(logger: Logger): (connections: number) => void {
  let unlogged = 0;
  let loggedAt = -Infinity;
  return (connections) => {
    unlogged += connections;
    if (performance.now() - loggedAt < LOGGED_EVERY_MS) return;
    logger.warn(`${unlogged} connections were closed whose clients did not read their answers.`);
    unlogged = 0;
    loggedAt = performance.now();
  };
}
