import type { INestApplicationContext } from '@nestjs/common';
import type { Settings } from '../platform/config/settings';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';

/**
 * How a command works and tells of it. Commands load the parts of the service when they need them (`import()`): one that is a mere client
 * starts without, in a tenth of the time.
 */
export interface Console {
  /** What was asked for, and nothing else, so that scripts can take it. */
  readonly out: (text: string) => void;
  /** Words for people. */
  readonly say: (words: string) => void;
  /** Runs work with the parts of the service. */
  readonly within: <Result>(work: (parts: INestApplicationContext) => Promise<Result>) => Promise<Result>;
  /** Runs work on the database alone: nothing is migrated, and the service's key is not asked for. */
  readonly onDatabase: <Result>(
    work: (database: ConnectionSettings, settings: Settings) => Promise<Result>,
  ) => Promise<Result>;
}
