import { hash } from 'node:crypto';
import type { DomainErrorExtras } from '../../platform/errors/domain-error';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Declarations } from '../../variables/domain/declarations';
import type { VariableValue } from '../../variables/domain/variable';
import type { Operation } from './operation';
import type { ChangeCause } from './value-change';
import type { StateOwner } from './state-owner';

/** One entry of `mutations`, exactly as it is answered, and stored for repetitions (contract section 8). */
export interface MutationEntry {
  readonly path: string;
  /** What a read would have shown before. */
  readonly previous: VariableValue | null;
  readonly current: VariableValue;
}

export type MutationStatus = 'applied' | 'duplicate';

/** What tells a repetition of a mutation from another mutation. */
export interface MutationIdentity {
  /** Identifies this request: a later attempt recognises by it what an earlier attempt has stored. */
  readonly workId: string;
  /** From `mutationKey`; unique for the participant in the campaign. */
  readonly mutationKey: string;
  /** From `fingerprintOf`. */
  readonly fingerprint: string;
}

/** A mutation with all that its transaction needs. */
export interface MutationWork {
  readonly tenantId: string;
  /** Without a participant the subject is empty; then no operation is on a `user` value. */
  readonly owner: StateOwner;
  /**
   * Null: the caller's transaction applies the mutation once and records it, as for reactions (docs/adr/0081). Then no
   * outcome is looked up or stored.
   */
  readonly identity: MutationIdentity | null;
  /** What the campaign declares; not used for a repetition. */
  readonly declarations: Declarations;
  readonly operations: readonly Operation[];
  /** The session of the token; stored with the participant. */
  readonly sessionId: string | null;
  /** Why it changes values, for their history. */
  readonly cause: ChangeCause;
}

/** Why a mutation is refused: the error of the answer. */
export interface MutationRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly extras: Pick<DomainErrorExtras, 'details' | 'path'>;
}

export type MutationResult =
  | { readonly status: 'applied'; readonly mutations: readonly MutationEntry[]; readonly isClamped?: true }
  | {
      readonly status: 'duplicate';
      readonly mutations: readonly MutationEntry[];
      /** Whether the id was used for the same operations before. */
      readonly sameOperations: boolean;
    }
  | { readonly status: 'refused'; readonly refusal: MutationRefusal }
  | { readonly status: 'unavailable' };

/** Who created a mutation's id: an id of a client never equals one of the service. */
export type MutationIdOrigin = 'client' | 'request';

/** The key of a mutation among all mutations of its participant in the campaign. */
export function mutationKey(origin: MutationIdOrigin, id: string): string {
  return `${origin}:${id}`;
}

/**
 * SHA-256 of the operations, in base64, to tell a repetition from other operations under the same `mutation_id`
 * (contract section 8). Equal for the same operations in the same order, whatever the spacing, the order of fields and
 * the spelling of numbers.
 */
export function fingerprintOf(operations: readonly Operation[]): string {
  const content = operations.map(({ path, op, value }) => [path, op, value]);
  return hash('sha256', JSON.stringify(content), 'base64');
}
