import type { Statement } from './statement';

/*
 * A transaction whose statements all go out with its COMMIT cannot look at one answer before it takes the next step. It goes by a
 * premise instead, which stands in a setting of the transaction: the first statement says whether it holds (`holdsIf`), others may
 * find it void (`voidIfAny`), and a statement that writes does nothing unless it holds (`PREMISE_HOLDS`). Where nobody has said
 * anything it does not hold.
 */

/** A condition of statements that write. */
export const PREMISE_HOLDS = `current_setting('cds.premise', true) = 'holds'`;

/** Says by a condition whether the premise of this transaction holds. */
export function holdsIf(name: string, condition: string): Statement {
  return {
    name,
    text: `
    SELECT set_config('cds.premise', CASE WHEN ${condition} THEN 'holds' ELSE 'void' END, true)`,
  };
}

/** Makes the premise void for the rest of this transaction if a statement finds any row. Takes the same values. */
export function voidIfAny({ name, text }: Statement): Statement {
  return {
    name: `${name}_void`,
    text: `
    SELECT set_config('cds.premise', 'void', true) WHERE EXISTS (${text})`,
  };
}
