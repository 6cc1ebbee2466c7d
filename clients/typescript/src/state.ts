import { hasMutations, hasState } from './answers.js';
import { type Answer, type Call, type Connection, send } from './transport.js';
import type { MutationResult, Operation, StateTree } from './types.js';

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** The campaign, where neither the token nor its issuer names one. */
  readonly campaignId?: string;
}

export interface MutateOptions extends ReadOptions {
  /** Your id for this change, of 1 to 255 characters; a random one when absent. Under one id a change is made once. */
  readonly mutationId?: string;
}

/** What a mutation changed; of a repetition, what the original changed. */
export type Mutated = MutationResult & {
  /** The id that it was sent under. */
  readonly mutationId: string;
  /** True when the id was used before with other operations, which were the ones that took effect. */
  readonly payloadMismatch: boolean;
};

/** Reads and changes the variables of the participant that the token speaks for. */
export class State {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The value of every declared variable: the one that was set, else its default, else null. */
  async read({ signal, campaignId }: ReadOptions = {}): Promise<StateTree> {
    const query = campaignId === undefined ? '' : `?campaign_id=${encodeURIComponent(campaignId)}`;
    const call: Call = { method: 'GET', path: `/v1/runtime/state${query}`, signal };
    return (await send<{ readonly state: StateTree }>(this.#connection, call, hasState)).body.state;
  }

  /**
   * Changes variables, all of `ops` in their order or none, and once, however often it has to be sent. Throws
   * CampaignDataError when the change is refused, or when its outcome is unknown: a repetition with the same `mutationId` shows it.
   */
  async mutate(ops: readonly Operation[], options: MutateOptions = {}): Promise<Mutated> {
    const { signal, campaignId, mutationId = crypto.randomUUID() } = options;
    const campaign = campaignId === undefined ? {} : { campaign_id: campaignId };
    const body = JSON.stringify({ ops, mutation_id: mutationId, ...campaign });
    const call: Call = { method: 'POST', path: '/v1/runtime/state:mutate', body, signal };
    const answer: Answer<MutationResult> = await send(this.#connection, call, hasMutations);
    const payloadMismatch = answer.headers.get('mutation-payload-mismatch') === 'true';
    return { ...answer.body, mutationId, payloadMismatch };
  }
}
