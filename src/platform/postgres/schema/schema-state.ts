import { sqlStateOf } from '../database-errors';
import { MIGRATIONS } from '../migrations';
import type { Row, Statement } from '../statement';

/** TypeORM writes down there what has run. */
const DONE_MIGRATIONS: Statement = { name: 'done_migrations', text: 'SELECT name FROM migrations' };
const UNDEFINED_TABLE = '42P01';

/** Asks one statement of the database, and answers its rows. */
export type RunStatement = (statement: Statement) => Promise<readonly Row[]>;

/** How many migrations of this version have not run on the database; those of a newer version do not count. */
export async function pendingMigrations(ask: RunStatement): Promise<number> {
  const done = new Set((await doneMigrations(ask)).map(({ name }) => name));
  return MIGRATIONS.filter(({ name }) => !done.has(name)).length;
}

async function doneMigrations(ask: RunStatement): Promise<readonly Row[]> {
  try {
    return await ask(DONE_MIGRATIONS);
  } catch (error) {
    // Nothing has ever run here.
    if (sqlStateOf(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
