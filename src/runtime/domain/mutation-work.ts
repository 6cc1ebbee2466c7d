import type { DomainErrorExtras } from '../../platform/errors/domain-error';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Declarations } from '../../variables/domain/declarations';
import type { MutationEntry } from './mutation-result';
import type { Operation } from './operation';
import type { StateOwner } from './state-owner';

/**
 * A row that is no participant's, for mutations that are nobody's own: like a participant's it makes repetitions wait for one
 * another. `campaignId` is no campaign's and the subject is empty, which no token's is.
 */
export interface Ledger {
  readonly subject: '';
  readonly campaignId: string;
}

/** How many of a campaign's mutations can be under way at once that change the same value anyway. */
const LEDGERS_PER_CAMPAIGN = 256;

/** The ledger of a mutation in a campaign: the same for the same `id`, a UUID, whoever asks and whenever. */
export function ledgerOf(campaignId: string, id: string): Ledger {
  // The last digits of every kind of UUID are as good as random. No campaign's name holds a #.
  return { subject: '', campaignId: `${campaignId}#${Number.parseInt(id.slice(-4), 16) % LEDGERS_PER_CAMPAIGN}` };
}

/** A mutation in the lane. */
export interface MutationWork {
  /** Of this request alone: how a later attempt at it recognises what an earlier one has stored. */
  readonly workId: string;
  readonly tenantId: string;
  readonly owner: StateOwner;
  /** Set where no operation is on a value of scope `user`: of the outcome nothing is kept then but that it was. */
  readonly ledger?: Ledger;
  /** What the campaign declares; looked at only when the mutation turns out to be no repetition. */
  readonly declarations: Declarations;
  readonly operations: readonly Operation[];
  /** Unique for the participant in the campaign, or in the ledger (`mutationKey`). */
  readonly mutationKey: string;
  /** Of the operations, in base64. */
  readonly fingerprint: string;
  /** The session of the token; kept with what it changes. */
  readonly sessionId: string | null;
}

/** Why a mutation changes nothing, in the words of the answer. */
export interface MutationRefusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly extras: Pick<DomainErrorExtras, 'details' | 'path'>;
}

export type MutationWorkOutcome =
  | { readonly status: 'applied'; readonly mutations: readonly MutationEntry[] }
  | {
      readonly status: 'duplicate';
      readonly mutations: readonly MutationEntry[];
      /** The id was used for these very operations before, and not for others. */
      readonly sameOperations: boolean;
    }
  | { readonly status: 'refused'; readonly refusal: MutationRefusal }
  | { readonly status: 'unavailable' };

/** Who made a mutation's id: ids of clients must not meet those that the service makes. */
export type MutationIdMaker = 'client' | 'request' | 'reaction';

/** The key of a mutation among all of its participant in the campaign. */
export function mutationKey(maker: MutationIdMaker, id: string): string {
  return `${maker}:${id}`;
}
