import type { Statement } from './statement';

/*
 * A transaction whose statements all go out with its COMMIT cannot look at one answer before it takes the next step. It goes by a
 * precondition instead, which stands in a setting of the transaction: the first statement says whether it holds (`preconditionOf`), others may
 * find it void (`failIfAny`), and a statement that writes does nothing unless it holds (`PRECONDITION_HOLDS`). Where nobody has said
 * anything it does not hold.
 */

/** A condition of statements that write. */
export const PRECONDITION_HOLDS = `current_setting('cds.precondition', true) = 'holds'`;

/** Says by a condition whether the precondition of this transaction holds. */
export function preconditionOf(name: string, condition: string): Statement {
  return {
    name,
    text: `
    SELECT set_config('cds.precondition', CASE WHEN ${condition} THEN 'holds' ELSE 'void' END, true)`,
  };
}

/** Makes the precondition void for the rest of this transaction if a statement finds any row. Takes the same values. */
export function failIfAny({ name, text }: Statement): Statement {
  return {
    name: `${name}_void`,
    text: `
    SELECT set_config('cds.precondition', 'void', true) WHERE EXISTS (${text})`,
  };
}
