import { Events } from './events.js';
import {
  BATCH_RETRY_DEFAULTS,
  type CallSignals,
  policyOf,
  RETRY_DEFAULTS,
  type RetryOptions,
  type RetryPolicy,
} from './retry.js';
import { State } from './state.js';
import { connect, type Connection, type Credential, send } from './transport.js';

export { CampaignDataError, type CampaignDataErrorCode } from './errors.js';
export type { BatchOptions, Events, SendOptions, Sent } from './events.js';
export type { CallSignals, FailedAttempt, RetryOptions } from './retry.js';
export type { components, operations, paths } from './schema.js';
export type { MutateOptions, Mutated, ReadOptions, State } from './state.js';
export type { Credential } from './transport.js';
export type * from './types.js';
export { verifyWebhook, WebhookVerificationError, type WebhookCall, type WebhookHeaders } from './webhooks.js';

export interface ServiceOptions {
  /** The address of the service, such as `https://data.example.com`; a path before `/v1` is kept. */
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
  /** The JWT of a participant, or a function that gives one before each attempt, so that it can be renewed. */
  readonly token: Credential;
  /** The name of the workspace that the token is for, where several have registered its issuer and audience. */
  readonly workspace?: string;
}

/** What a backend may do. */
export interface BackendClient {
  readonly events: Events;
  /**
   * Reads any other route, at a path with its query such as `/v1/events?limit=10`. Answers the JSON of the answer, which is not
   * checked against `Body`; a list where it has lines of JSON. Throws CampaignDataError when it is refused, or could not be sent.
   */
  readonly get: <Body = unknown>(path: string, signals?: CallSignals) => Promise<Body>;
  /**
   * Posts an object, or JSON as text, to any other route. It is repeated like every call: where a repetition is not safe, as when
   * creating an API key, use a client with `retry: { attemptsMax: 1 }`.
   */
  readonly post: <Body = unknown>(path: string, body: object | string, signals?: CallSignals) => Promise<Body>;
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
  const retry = policyOf(options.retry, RETRY_DEFAULTS);
  const batchRetry = policyOf(options.retry, BATCH_RETRY_DEFAULTS);
  const connection = { baseUrl, retry, fetch: chosen };
  return {
    ...(apiKey === undefined ? {} : backend(connect({ ...connection, credential: apiKey }), batchRetry)),
    ...(token === undefined ? {} : { state: new State(connect({ ...connection, credential: token, workspace })) }),
  };
}

function backend(connection: Connection, batchRetry: RetryPolicy): BackendClient {
  return {
    events: new Events(connection, batchRetry),
    get: async <Body>(path: string, signals: CallSignals = {}) =>
      (await send<Body>(connection, { method: 'GET', path, ...signals })).body,
    post: async <Body>(path: string, body: object | string, signals: CallSignals = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return (await send<Body>(connection, { method: 'POST', path, body: text, ...signals })).body;
    },
  };
}
