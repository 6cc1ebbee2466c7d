import type { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { ANSWER_TIMEOUT_MS } from './database-options';
import { Pipeline } from './pipeline';
import type { Row, Statement } from './statement';

/** Runs a statement; statements that are sent at once share a round trip. */
export type ReadRows = <T = Row>(statement: Statement, values: readonly unknown[]) => Promise<readonly T[]>;

/** The statements that a connection has planned belong to its pipeline. */
const pipelines = new WeakMap<Client, Pipeline>();

/**
 * Runs reads on one connection of the pool, which plans each statement once: for reads that requests repeat, and whose
 * planning costs PostgreSQL more than their rows. When one of several statements fails, so do those behind it. Errors are
 * those of `pg`, which `database-errors.ts` knows.
 */
export async function preparedReads<T>(database: DataSource, work: (read: ReadRows) => Promise<T>): Promise<T> {
  const runner = database.createQueryRunner();
  try {
    const client = (await runner.connect()) as Client;
    const pipeline = pipelines.get(client) ?? new Pipeline(client, ANSWER_TIMEOUT_MS);
    pipelines.set(client, pipeline);
    return await work(async <R>(statement: Statement, values: readonly unknown[]) => {
      return (await pipeline.send(statement, values)).rows as readonly R[];
    });
  } finally {
    await runner.release();
  }
}

/** Runs one such statement. */
export function preparedQuery<T = Row>(
  database: DataSource,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly T[]> {
  return preparedReads(database, (read) => read<T>(statement, values));
}
