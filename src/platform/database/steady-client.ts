import { Client } from 'pg';

/**
 * A client whose loss ends nobody. Between the moment at which the pool hands a client out and the one at which TypeORM listens
 * to it nobody does; a session that the server ends just then (its greeting and its end come in one packet) would end the whole
 * process by an `error` without a listener.
 */
export class SteadyClient extends Client {
  constructor(...settings: ConstructorParameters<typeof Client>) {
    super(...settings);
    // Whoever waits for an answer is told by its own promise.
    this.on('error', () => undefined);
  }
}
