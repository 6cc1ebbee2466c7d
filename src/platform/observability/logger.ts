import type { LoggerService } from '@nestjs/common';
import { describeError } from '../errors/error-summary';
import { destination, pino, stdTimeFunctions, type Logger } from 'pino';

const STANDARD_ERROR = 2;

/** Contexts of Nest whose lines are the same at every start. They are logged at level debug. */
const FRAMEWORK_CONTEXTS: ReadonlySet<unknown> = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** The log line of a request. It has no path, because clients choose names in it. */
export interface RequestLine {
  readonly requestId: string;
  /** Undefined without a verified credential. */
  readonly workspace: string | undefined;
  readonly method: string;
  /** The template of the path. */
  readonly route: string;
  readonly status: number;
  /** The client did not wait for the answer. */
  readonly gone: true | undefined;
  readonly ms: number;
}

/** Lines of requests that end in one turn of the event loop are written together, at most this many bytes. */
const BUFFER_BYTES = 8 * 1024;
/** Lines that could not be written wait for the next attempt. Beyond this they are dropped. */
const UNWRITTEN_BYTES_MAX = 1024 * 1024;

type Destination = ReturnType<typeof destination>;

/** Destinations with buffered lines, which are written when the process ends. */
const unwritten = new Set<Destination>();
let isFlushedAtExit = false;

/**
 * Writes Nest's log as JSON lines to standard error. Callers pass constant texts only: no line may contain an identity, a
 * property or a credential (contract section 1).
 */
export class JsonLogger implements LoggerService {
  private readonly pino: Logger;
  private readonly destination: Destination;

  /** `to` is a file, or standard error. */
  constructor(level: string, to: string | number = STANDARD_ERROR) {
    this.destination = destination({ dest: to, sync: true, minLength: BUFFER_BYTES, maxLength: UNWRITTEN_BYTES_MAX });
    // Without a listener a full disk under the log would end the process.
    this.destination.on('error', () => undefined);
    this.pino = pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, this.destination);
  }

  /**
   * Logs a request. The line is written in the same turn of the event loop, together with those of other requests: a system
   * call per line would cost more than the rest of the line. Only a kill can lose it.
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
    this.write(FRAMEWORK_CONTEXTS.has(context.at(-1)) ? 'debug' : 'info', message, context);
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
    // The message of an error can quote values, so only its class, code and stack are logged.
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
  // Writes synchronously. `flushSync` would also call fsync for every line.
  to.flush();
}

function flushAtExit(): void {
  if (isFlushedAtExit) return;
  isFlushedAtExit = true;
  process.on('exit', () => unwritten.forEach(flush));
}
