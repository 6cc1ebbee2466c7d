import { Client } from 'pg';
import { READ_ONLY } from './database-errors';

/**
 * A client whose loss ends nobody. Between the moment at which the pool hands a client out and the one at which TypeORM listens
 * to it nobody does; a session that the server ends just then (its greeting and its end come in one packet) would end the whole
 * process by an `error` without a listener.
 */
export class SteadyClient extends Client {
  constructor(...settings: ConstructorParameters<typeof Client>) {
    super(...settings);
    // A caller that waits for an answer gets the error by its own promise.
    this.on('error', () => undefined);
    // A session that found its server read-only stays there after a failover. The pool drops a client that is ending.
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === READ_ONLY) void this.end().catch(() => undefined);
    });
  }
}
