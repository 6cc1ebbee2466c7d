import { Events } from './events.js';
import { BATCH_RETRY_DEFAULTS, RETRY_DEFAULTS, type RetryOptions } from './retry.js';
import { State } from './state.js';
import { connect, type Credential } from './transport.js';

export { CampaignDataError, type CampaignDataErrorCode } from './errors.js';
export type { BatchOptions, Events, SendOptions, Sent } from './events.js';
export type { RetryOptions } from './retry.js';
export type { components, operations, paths } from './schema.js';
export type { MutateOptions, Mutated, ReadOptions, State } from './state.js';
export type { Credential } from './transport.js';
export type * from './types.js';

export interface ServiceOptions {
  /** Where the service is, as `https://data.example.com`; a path before `/v1` is kept. */
  readonly baseUrl: string;
  readonly retry?: RetryOptions;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
}

export interface BackendOptions extends ServiceOptions {
  /** An API key. It belongs on servers: never give one to a browser. */
  readonly apiKey: Credential;
}

export interface ParticipantOptions extends ServiceOptions {
  /** The JWT of a participant, or where to get one: asked before each attempt, so that an expired one can be renewed. */
  readonly token: Credential;
  /** The name of the workspace that the token is for, where several have registered its issuer and audience. */
  readonly workspace?: string;
}

/** What a backend may do. */
export interface BackendClient {
  readonly events: Events;
}

/** What a participant may do, in a browser too. */
export interface ParticipantClient {
  readonly state: State;
}

/** A client of one service. Throws a TypeError for a `baseUrl` or credential that cannot be one, without repeating it. */
export function createClient(options: BackendOptions & ParticipantOptions): BackendClient & ParticipantClient;
export function createClient(options: BackendOptions): BackendClient;
export function createClient(options: ParticipantOptions): ParticipantClient;
export function createClient(
  options: ServiceOptions & Partial<Pick<BackendOptions & ParticipantOptions, 'apiKey' | 'token' | 'workspace'>>,
): Partial<BackendClient & ParticipantClient> {
  const { apiKey, token, workspace, baseUrl, fetch: chosen } = options;
  if (apiKey === undefined && token === undefined) throw new TypeError('Give an apiKey or a token.');
  const retry = { ...RETRY_DEFAULTS, ...options.retry };
  const batchRetry = { ...BATCH_RETRY_DEFAULTS, ...options.retry };
  const connection = { baseUrl, retry, fetch: chosen };
  return {
    ...(apiKey === undefined ? {} : { events: new Events(connect({ ...connection, credential: apiKey }), batchRetry) }),
    ...(token === undefined ? {} : { state: new State(connect({ ...connection, credential: token, workspace })) }),
  };
}
