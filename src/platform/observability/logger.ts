import type { LoggerService } from '@nestjs/common';
import { describeError } from '../errors/error-summary';
import { destination, pino, stdTimeFunctions, type Logger } from 'pino';

const STANDARD_ERROR = 2;

/** What these tell at every start is the same every time. */
const FRAMEWORK_ROOMS: ReadonlySet<unknown> = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** What is told of a request. Its path is not: names in it are the client's. */
export interface RequestLine {
  readonly requestId: string;
  /** Undefined until the credential is known. */
  readonly workspace: string | undefined;
  readonly method: string;
  /** The template of its path. */
  readonly route: string;
  readonly status: number;
  /** The client did not wait for the answer. */
  readonly gone: true | undefined;
  readonly ms: number;
}

/** Lines of requests that end in one turn of the event loop are written at once; more than these are not kept waiting. */
const BUFFER_BYTES = 8 * 1024;

type Destination = ReturnType<typeof destination>;

/** What a process that ends must still write. */
const unwritten = new Set<Destination>();
let isFlushedAtExit = false;

/**
 * Nest's log lines as JSON on standard error, one a line. Callers pass words of their own only: no line may hold an
 * identity, a property or a credential (contract section 1).
 */
export class JsonLogger implements LoggerService {
  private readonly pino: Logger;
  private readonly destination: Destination;

  /** `to` is a file, or standard error. */
  constructor(level: string, to: string | number = STANDARD_ERROR) {
    this.destination = destination({ dest: to, sync: true, minLength: BUFFER_BYTES });
    this.pino = pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, this.destination);
  }

  /**
   * The one line of a request. It is written before the event loop turns again, together with those of other requests that
   * end now: a system call each would cost a busy process more than all the rest of a line. Only a kill can lose it.
   */
  request(level: 'debug' | 'info' | 'error', line: RequestLine): void {
    if (!this.pino.isLevelEnabled(level)) return;
    this.pino[level](line, 'request');
    if (unwritten.has(this.destination)) return;
    flushAtExit();
    unwritten.add(this.destination);
    setImmediate(() => {
      if (unwritten.has(this.destination)) flush(this.destination);
    });
  }

  log(message: unknown, ...context: unknown[]): void {
    this.write(FRAMEWORK_ROOMS.has(context.at(-1)) ? 'debug' : 'info', message, context);
  }

  error(message: unknown, ...context: unknown[]): void {
    this.write('error', message, context);
  }

  warn(message: unknown, ...context: unknown[]): void {
    this.write('warn', message, context);
  }

  debug(message: unknown, ...context: unknown[]): void {
    this.write('debug', message, context);
  }

  verbose(message: unknown, ...context: unknown[]): void {
    this.write('trace', message, context);
  }

  fatal(message: unknown, ...context: unknown[]): void {
    this.write('fatal', message, context);
  }

  /** Nest passes the context last, and a stack before it. */
  private write(
    level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    // A message can quote values, so that of an error stays out; its class, its code and where it was thrown do not.
    const { line, stack: thrownAt } = typeof message === 'string' ? { line: message } : wordsOf(message);
    const stack = rest.length > 1 ? rest[0] : thrownAt;
    this.pino[level](
      { ...(typeof context === 'string' ? { context } : {}), ...(typeof stack === 'string' ? { stack } : {}) },
      line,
    );
    flush(this.destination);
  }
}

function wordsOf(message: unknown): { readonly line: string; readonly stack?: string } {
  return message instanceof Error ? describeError(message) : { line: `A value of type ${typeof message} was logged.` };
}

function flush(to: Destination): void {
  unwritten.delete(to);
  // In its synchronous way this writes at once; `flushSync` would make the disk write too, for every line.
  to.flush();
}

function flushAtExit(): void {
  if (isFlushedAtExit) return;
  isFlushedAtExit = true;
  process.on('exit', () => unwritten.forEach(flush));
}
