import { Client } from 'pg';
import { NO_ANSWER, READ_ONLY } from './database-errors';

/**
 * A client whose lost connection never ends the process. TypeORM adds its `error` listener shortly after the pool has handed
 * the client out. If the server ends the session in between, the `error` event has no listener and would end the process.
 */
export class SteadyClient extends Client {
  constructor(...settings: ConstructorParameters<typeof Client>) {
    super(...settings);
    // A caller that waits for an answer gets the error through its own promise.
    this.on('error', () => undefined);
    // After a failover such a session stays on a read-only server. The pool drops a client that is ending.
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === READ_ONLY) void this.end().catch(() => undefined);
    });
    this.dropWhenSilent();
  }

  /** A session that has not answered in time is dropped: later queries would wait for that answer, until the system notices. */
  private dropWhenSilent(): void {
    const query = this.query.bind(this) as (...given: readonly unknown[]) => unknown;
    this.query = ((...given: readonly unknown[]) => {
      const answer = query(...given);
      if (answer instanceof Promise) {
        answer.catch((error: unknown) => {
          if (error instanceof Error && error.message === NO_ANSWER) void this.end().catch(() => undefined);
        });
      }
      return answer;
    }) as Client['query'];
  }
}
