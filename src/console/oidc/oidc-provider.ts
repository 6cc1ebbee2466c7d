import { Inject, Injectable } from '@nestjs/common';
import type { ClientAuth, Configuration, IDToken, ServerMetadata } from 'openid-client';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { credentialNeeded } from '../../platform/errors/challenges';
import { DomainError } from '../../platform/errors/domain-error';
import { SESSION_MS_MAX } from '../domain/session-lifetime';
import { boundedFetch } from './bounded-fetch';
import { oidcSettings, type OidcSettings } from './domain/oidc-access';

/** Of one call to the provider; a request of the console waits for it. */
const CALL_SECONDS_MAX = 5;
/** How long ago a person may have shown who they are, when they were sent there to do so. */
const MAX_AGE_OF_PROOF_SECONDS = 300;
const GROUPS_MAX = 1_000;
const SUBJECT_CHARACTERS_MAX = 255;
const NAME_CHARACTERS_MAX = 200;
/** Answers of the token endpoint that are about the client or the provider, not about the person. */
const NOT_OF_PERSON: ReadonlySet<string> = new Set([
  ...['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'],
  ...['server_error', 'temporarily_unavailable'],
]);
/** Answers that came and do not hold. */
const BROKEN_ANSWERS: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
]);

const TOKEN_ENDED = 'its access token has ended';

type Library = typeof import('openid-client');

interface Connected {
  readonly library: Library;
  readonly configuration: Configuration;
}

/** What proves later that a sign-in is the one that this browser began. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** How the provider is asked again. Access tokens can only be used while they live. */
export interface RenewalToken {
  readonly kind: 'refresh' | 'access';
  readonly token: string;
}

/** A person, as the provider describes them now. */
export interface OidcPerson {
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
  /** When they have shown who they are, in epoch seconds; undefined when the provider does not say. */
  readonly authenticatedAt: number | undefined;
  readonly renewal: RenewalToken;
}

/**
 * The identity provider (contract section 10): authorization code with PKCE. Its answers are verified by `openid-client`, which
 * is loaded when it is first needed. Metadata and keys are fetched once and kept by it.
 */
@Injectable()
export class OidcProvider {
  readonly settings: OidcSettings | undefined;
  private connecting: Promise<Connected> | undefined;

  constructor(@Inject(SETTINGS_TOKEN) settings: Settings) {
    this.settings = oidcSettings(settings);
  }

  /** Where the browser is sent, and what the way back is checked by. `isProof`: the person must show again who they are. */
  async begin(redirectUri: string, isProof: boolean): Promise<{ address: string; secrets: SignInSecrets }> {
    const { library, configuration } = await this.connected();
    const secrets = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const address = library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.required.scope,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      // With max_age the provider says when the person has shown who they are.
      ...(isProof ? { prompt: 'login', max_age: '0' } : { max_age: String(SESSION_MS_MAX / 1_000) }),
    });
    return { address: address.href, secrets };
  }

  /** Redeems the code in the address that the browser came back to. Throws `unauthenticated` and `unavailable`. */
  async redeem(callback: URL, { state, nonce, verifier }: SignInSecrets, isProof: boolean): Promise<OidcPerson> {
    const { library, configuration } = await this.connected();
    return this.asking(library, async () => {
      const tokens = await library.authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        // The provider has to say when. A proof is one of the last minutes anyway.
        ...(isProof ? { maxAge: MAX_AGE_OF_PROOF_SECONDS } : {}),
      });
      const claims = tokens.claims();
      if (claims === undefined) throw signInRefused('it sent no ID token');
      return this.person({ library, configuration }, claims, tokens.access_token, renewalOf(tokens, undefined));
    });
  }

  /**
   * Asks about a person again. `keep` stores a new refresh token before the provider is asked on: it may have ended the former
   * one, and what fails afterwards must not end the sign-in. Throws `unauthenticated` when the sign-in has ended there,
   * `unavailable`, and what `keep` throws.
   */
  async renew(
    subject: string,
    former: RenewalToken,
    keep: (renewal: RenewalToken) => Promise<unknown>,
  ): Promise<OidcPerson> {
    const connected = await this.connected();
    const { library, configuration } = connected;
    const ask = (claims: Partial<IDToken> & { readonly sub: string }, accessToken: string, renewal: RenewalToken) =>
      this.asking(library, () => this.person(connected, claims, accessToken, renewal));
    if (former.kind === 'access') return ask({ sub: subject }, former.token, former);
    const tokens = await this.asking(library, () => library.refreshTokenGrant(configuration, former.token));
    const claims = tokens.claims() ?? { sub: subject };
    if (claims.sub !== subject) throw signInRefused('it answered about another person');
    const renewal = renewalOf(tokens, former);
    if (renewal.token !== former.token) await keep(renewal);
    return ask(claims, tokens.access_token, renewal);
  }

  private get required(): OidcSettings {
    if (this.settings === undefined) throw new DomainError('not_found', 'This service has no identity provider.');
    return this.settings;
  }

  /** Groups may be in the ID token or in the answer to userinfo; the latter is newer. */
  private async person(
    { library, configuration }: Connected,
    idToken: Partial<IDToken> & { readonly sub: string },
    accessToken: string,
    renewal: RenewalToken,
  ): Promise<OidcPerson> {
    const { sub: subject } = idToken;
    if (subject.length > SUBJECT_CHARACTERS_MAX || /[^\x21-\x7e]/.test(subject)) {
      throw signInRefused('the subject is not printable ASCII of up to 255 characters');
    }
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const userInfo = hasUserInfo
      ? await library.fetchUserInfo(configuration, accessToken, subject).catch(refuseWithoutChallenge)
      : undefined;
    const claims: Readonly<Record<string, unknown>> = { ...idToken, ...userInfo };
    return {
      subject,
      renewal,
      name: nameIn(claims, subject),
      groups: groupsIn(claims[this.required.groupsClaim]),
      authenticatedAt: typeof idToken.auth_time === 'number' ? idToken.auth_time : undefined,
    };
  }

  private connected(): Promise<Connected> {
    if (this.connecting !== undefined) return this.connecting;
    const connecting = this.connect();
    this.connecting = connecting;
    connecting.catch(() => {
      if (this.connecting === connecting) this.connecting = undefined;
    });
    return connecting;
  }

  private async connect(): Promise<Connected> {
    const { issuer, clientId, clientSecret } = this.required;
    const library = await import('openid-client');
    const authenticate: ClientAuth = (server, ...request) => {
      const method = takesBasic(server) ? library.ClientSecretBasic : library.ClientSecretPost;
      method(clientSecret)(server, ...request);
    };
    try {
      const configuration = await library.discovery(new URL(issuer), clientId, undefined, authenticate, {
        timeout: CALL_SECONDS_MAX,
        [library.customFetch]: boundedFetch,
        // Settings allow http on loopback addresses only.
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- it is marked so that it stands out
        execute: issuer.startsWith('http:') ? [library.allowInsecureRequests] : [],
      });
      assertEndpoints(configuration.serverMetadata());
      return { library, configuration };
    } catch (error) {
      // Metadata are about no person, whatever is wrong with them.
      throw cannotBeAsked(error);
    }
  }

  /** Tells refusals of the provider from what may succeed later. No text of the provider is passed on: it may hold personal data. */
  private async asking<Result>(library: Library, ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof DomainError) throw error;
      const words = refusalIn(library, error);
      if (words !== undefined) throw signInRefused(words);
      throw cannotBeAsked(error);
    }
  }
}

function cannotBeAsked(cause: unknown): DomainError {
  const message = 'The identity provider cannot be asked now. Try again after the time in Retry-After.';
  return new DomainError('unavailable', message, { retryAfterSeconds: 5, cause });
}

/** Throws where a sign-in could not use the metadata, which would be kept. */
function assertEndpoints(metadata: ServerMetadata): void {
  for (const name of ['authorization_endpoint', 'token_endpoint'] as const) {
    const endpoint = metadata[name];
    if (endpoint === undefined || !URL.canParse(endpoint)) throw new Error(`The metadata have no URL in ${name}.`);
  }
}

function signInRefused(words: string): DomainError {
  return credentialNeeded(`The identity provider does not confirm the sign-in: ${words}. Sign in again.`);
}

/** Some providers refuse an access token without the challenge that RFC 6750 asks for. */
function refuseWithoutChallenge(error: unknown): never {
  const { cause } = error as { readonly cause?: unknown };
  throw cause instanceof Response && cause.status === 401 ? signInRefused(TOKEN_ENDED) : error;
}

/** Undefined when it is no refusal of a person. Codes are fixed texts of the protocol. */
function refusalIn(library: Library, error: unknown): string | undefined {
  if (error instanceof library.AuthorizationResponseError) return codeIn(error.error);
  if (error instanceof library.ResponseBodyError) {
    return NOT_OF_PERSON.has(error.error) || mayPass(error.status) ? undefined : codeIn(error.error);
  }
  if (error instanceof library.WWWAuthenticateChallengeError) {
    // Basic asks for the credential of the client.
    const isOfClient = error.cause.every(({ scheme }) => scheme === 'basic');
    return isOfClient || mayPass(error.status) ? undefined : TOKEN_ENDED;
  }
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && BROKEN_ANSWERS.has(code)
    ? 'its answer does not belong to this sign-in'
    : undefined;
}

/** Whether a status says nothing about the person: a timeout, too many requests, or a fault of the provider. */
function mayPass(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function codeIn(error: string): string {
  return /^[a-z_]{1,64}$/.test(error) ? error : 'it refused';
}

function renewalOf(
  tokens: { readonly access_token: string; readonly refresh_token?: string },
  former: RenewalToken | undefined,
): RenewalToken {
  if (tokens.refresh_token !== undefined) return { kind: 'refresh', token: tokens.refresh_token };
  return former ?? { kind: 'access', token: tokens.access_token };
}

/** The default of OpenID Connect, unless the provider names only the other one. */
function takesBasic({ token_endpoint_auth_methods_supported: methods }: ServerMetadata): boolean {
  return methods === undefined || methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
}

function nameIn(claims: Readonly<Record<string, unknown>>, subject: string): string {
  const names = [claims['name'], claims['preferred_username'], subject];
  const name = names.find((each) => typeof each === 'string' && /\S/.test(each)) as string;
  return name.toWellFormed().replaceAll('\u0000', '').slice(0, NAME_CHARACTERS_MAX).toWellFormed();
}

function groupsIn(claim: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.filter((group) => typeof group === 'string').slice(0, GROUPS_MAX);
}
