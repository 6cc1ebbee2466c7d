/** Where PostgreSQL is: what `pg` and TypeORM both take. */
export interface ConnectionSettings {
  /** A `postgresql://` address; a unix socket is named in its query (`?host=/folder`). */
  readonly url: string;
}

/** Injection token of the `ConnectionSettings` in force. */
export const CONNECTION_SETTINGS = Symbol('connection settings');
