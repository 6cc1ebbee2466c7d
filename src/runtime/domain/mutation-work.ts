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

/**
 * A row that is locked instead of a participant's, for mutations that belong to no participant: repetitions of one id
 * wait for each other there. Its `campaignId` is no campaign's; its subject is empty, which no token's is.
 */
export interface Ledger {
  readonly subject: '';
  readonly campaignId: string;
}

/** So many of a campaign's mutations without a participant can run at once. */
const LEDGERS_PER_CAMPAIGN = 256;

/** The ledger of a mutation in a campaign; the same `id`, a UUID, always has the same ledger. */
export function ledgerOf(campaignId: string, id: string): Ledger {
  // The last digits of a UUID are random in every version. No campaign's name contains a #.
  return { subject: '', campaignId: `${campaignId}#${Number.parseInt(id.slice(-4), 16) % LEDGERS_PER_CAMPAIGN}` };
}

/** A mutation with all that its transaction needs. */
export interface MutationWork {
  /** Identifies this request: a later attempt recognises by it what an earlier attempt has stored. */
  readonly workId: string;
  readonly tenantId: string;
  readonly owner: StateOwner;
  /** Set when no operation is on a `user` value. The outcome is then stored without its entries. */
  readonly ledger?: Ledger;
  /** What the campaign declares; not used for a repetition. */
  readonly declarations: Declarations;
  readonly operations: readonly Operation[];
  /** From `mutationKey`; unique for the participant in the campaign, or in the ledger. */
  readonly mutationKey: string;
  /** From `fingerprintOf`. */
  readonly fingerprint: string;
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
export type MutationIdOrigin = 'client' | 'request' | 'reaction';

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
