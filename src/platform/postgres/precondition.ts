import { sqlStateOf } from './database-errors';
import { oneWorkspaceForm } from './one-workspace';
import type { Statement } from './statement';

/*
 * A transaction whose statements all go out with its COMMIT cannot look at one answer before it takes the next step. It goes by a
 * precondition instead, which stands in a setting of the transaction: the first statement says whether it holds (`preconditionOf`), others may
 * find it void (`failIfAny`), and the statement that stores fails unless it holds (`PRECONDITION_HOLDS`, `allInserted`), which takes
 * the whole transaction back. Where nobody has said anything it does not hold.
 *
 * In a transaction by Citus the setting would be written on one server and read on another. There a precondition that does not
 * hold is an error (division by zero), which takes the whole transaction back; `PipelinedConnection` says so by `RolledBackError`.
 */

/** What a statement that fails for a precondition's sake fails with, and a row that another transaction has inserted. */
const LOST_RACES: ReadonlySet<string | undefined> = new Set(['22012', '23505']);

/** A condition of statements that write. */
export const PRECONDITION_HOLDS = `current_setting('cds.precondition', true) = 'holds'`;

/** Says whether the precondition of this transaction holds: `expected` is how many rows `found`, a FROM clause, has. */
export function preconditionOf(name: string, { expected, found }: { expected: string; found: string }): Statement {
  return {
    name,
    text: `
    SELECT set_config('cds.precondition', CASE WHEN ${expected} = (
      SELECT count(*)
      ${found}
    ) THEN 'holds' ELSE 'void' END, true)`,
    oneWorkspace: oneWorkspaceForm(`
    SELECT 1 / (${expected} = count(*))::int
      ${found}`),
  };
}

/** Whether a transaction failed because its precondition does not hold, or another transaction was faster. */
export function isLostRace(error: unknown): boolean {
  return LOST_RACES.has(sqlStateOf(error));
}

/**
 * The number of rows that an insert of this name has inserted; `expected` is an expression. Where it has inserted fewer, the
 * statement fails with `isLostRace`, so that the whole transaction is taken back. What follows is skipped.
 */
export function allInserted(inserted: string, expected: string): string {
  return `SELECT 1 / (count(*) = ${expected})::int FROM ${inserted}`;
}

/** Makes the precondition void for the rest of this transaction if a statement finds any row. Takes the same values. */
export function failIfAny({ name, text }: Statement): Statement {
  return {
    name: `${name}_void`,
    text: `
    SELECT set_config('cds.precondition', 'void', true) WHERE EXISTS (${text})`,
    oneWorkspace: oneWorkspaceForm(`
    SELECT 1 / (count(*) = 0)::int FROM (${text}) found`),
  };
}
