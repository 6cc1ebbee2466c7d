import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

const STANDARD_ERROR = 2;

/** What these tell at every start is the same every time. */
const FRAMEWORK_ROOMS: ReadonlySet<unknown> = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/**
 * Nest's log lines as JSON on standard error, one a line. Callers pass words of their own only: no line may hold an
 * identity, a property or a credential (contract section 1).
 */
export class JsonLogger implements LoggerService {
  private readonly pino: Logger;

  /** `destination` is a file, or standard error. */
  constructor(level: string, destination: string | number = STANDARD_ERROR) {
    this.pino = pino(
      { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
      pino.destination({ dest: destination, sync: true }),
    );
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

  /** Nest passes the name of the room last, and a stack before it. */
  private write(
    level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace',
    message: unknown,
    rest: unknown[],
  ): void {
    const room = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    this.pino[level](
      { ...(typeof room === 'string' ? { room } : {}), ...(typeof stack === 'string' ? { stack } : {}) },
      typeof message === 'string' ? message : '(no words)',
    );
  }
}
