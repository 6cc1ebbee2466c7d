/**
 * The states of work that jobs do step by step. `queued` until the first step is done; `failed` if it ended early, as when its
 * job gave up.
 */
export const WORK_STATES = ['queued', 'running', 'done', 'cancelled', 'failed'] as const;
export type WorkState = (typeof WORK_STATES)[number];

/** The states of work that a job has to go on with. */
export const UNFINISHED_STATES: readonly WorkState[] = ['queued', 'running'];

/** The same behind IN and NOT IN of a statement. */
export const UNFINISHED_LIST = `(${UNFINISHED_STATES.map((state) => `'${state}'`).join(', ')})`;
