import type { Client } from 'pg';
import type { DataSource } from 'typeorm';
import type { Row, Statement } from './statement';

/**
 * Runs a statement on a connection of the pool, which plans it once: for reads that requests repeat, and whose planning
 * costs PostgreSQL more than their rows. Fails as `pg` does, which `database-errors.ts` knows.
 */
export async function preparedQuery<T = Row>(
  database: DataSource,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<T[]> {
  const runner = database.createQueryRunner();
  try {
    const client = (await runner.connect()) as Client;
    const { rows } = await client.query({ name, text, values: [...values] });
    return rows as T[];
  } finally {
    await runner.release();
  }
}
