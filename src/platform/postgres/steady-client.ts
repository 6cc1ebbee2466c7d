import { Client } from 'pg';
import { READ_ONLY } from './database-errors';

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
  }
}
