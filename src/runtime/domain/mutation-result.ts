import type { VariableValue } from '../../variables/domain/variable';

/** One entry of `mutations`, letter for letter as it is answered and kept for repetitions (contract section 8). */
export interface MutationEntry {
  readonly path: string;
  /** What a read would have shown before. */
  readonly previous: VariableValue | null;
  readonly current: VariableValue;
}

export type MutationStatus = 'applied' | 'duplicate';
