import { sqlStateOf } from './database-errors';
import { oneWorkspaceForm } from './one-workspace';
import type { Statement } from './statement';

/*
 * A transaction whose statements all go out with its COMMIT cannot look at one answer before it takes the next step. It goes by a
 * precondition instead, which stands in a setting of the transaction: the first statement says whether it holds (`preconditionOf`), others may
 * find it void (`failIfAny`), and a statement that writes does nothing unless it holds (`PRECONDITION_HOLDS`). Where nobody has said
 * anything it does not hold.
 *
 * On a distributed database the setting would be written on one server and read on another. There a precondition that does not
 * hold is an error (division by zero), which takes the whole transaction back; `PipelinedConnection` says so by `RolledBackError`.
 */

const DIVISION_BY_ZERO = '22012';

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

/**
 * Fails unless the precondition holds, for transactions with statements that do not look at it themselves: everything is
 * taken back. The error is `isVoidPrecondition`. Where a precondition that does not hold is an error already, it is not needed.
 */
export const ASSERT_PRECONDITION: Statement = {
  name: 'platform_assert_precondition',
  text: `SELECT 1 / coalesce(${PRECONDITION_HOLDS}, false)::int`,
};

/** Whether this is the failure of `ASSERT_PRECONDITION`. */
export function isVoidPrecondition(error: unknown): boolean {
  return sqlStateOf(error) === DIVISION_BY_ZERO;
}

/** Makes the precondition void if an insert with RETURNING has inserted fewer rows than `expected`; an expression. */
export function voidIfFewer(insert: string, expected: string): string {
  return `
    WITH inserted AS (${insert})
    SELECT set_config('cds.precondition', 'void', true)
    FROM (SELECT count(*) AS number FROM inserted) rows WHERE rows.number < ${expected}`;
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
