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
