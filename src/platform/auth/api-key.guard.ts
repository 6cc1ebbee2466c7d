import { hash } from 'node:crypto';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Clock } from '../values/clock';
import { checkAgainLater } from '../http/service-request';
import { InvalidationFeed } from '../invalidation/invalidation-feed';
import { NegativeCache } from '../invalidation/negative-cache';
import { andThen } from '../async/and-then';
import {
  API_KEY_STRATEGY,
  FURTHER_SCOPES,
  NEEDS_PROOF,
  REQUIRED_SCOPE,
  SIGNATURE_STRATEGY,
  TAKES_SIGNATURES,
  UNMASKS,
} from './auth-metadata';
import { bearerCredential, looksLikeJwt, CredentialMemory } from './bearer-credentials';
import type { AuthenticatedRequest } from './caller.decorator';
import { credentialNeeded, credentialRefused, scopeMissing } from '../errors/challenges';
import { CredentialVerifier } from './credential-verifier';
import { assertFreshProof } from './fresh-proof';
import { FailedAuthentications } from './failed-authentications';
import type { Principal } from './principal';
import { grants, type Scope } from './scopes';

/** Keys have 42 characters, or up to 200 when an operator chose one. Longer values are not looked up. */
const CREDENTIAL_CHARACTERS_MAX = 8_192;

/**
 * Admits a backend with a valid API key that has the scope of the route, or with a valid signature where the route accepts
 * signed requests. With both, the API key counts.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly memory: CredentialMemory<Principal>;
  private readonly refusedSignatures: NegativeCache;

  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: CredentialVerifier,
    private readonly failures: FailedAuthentications,
    private readonly clock: Clock,
    feed: InvalidationFeed,
  ) {
    this.memory = new CredentialMemory('api_key', feed, clock);
    this.refusedSignatures = new NegativeCache('service_credential', feed, clock);
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const targets = [context.getHandler(), context.getClass()];
    const access = accessOf(this.reflector, targets);
    return andThen(this.principalOf(request, access), (principal) => {
      admit(request, access, principal);
      checkAgainLater(request, () => this.principalOf(request, access));
      if (principal.session !== undefined && this.reflector.getAllAndOverride<boolean>(NEEDS_PROOF, targets)) {
        assertFreshProof(principal, this.clock.now());
      }
      return true;
    });
  }

  private principalOf(request: AuthenticatedRequest, { takesSignatures }: RouteAccess): Principal | Promise<Principal> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.failures.counted(request, () => this.ofApiKey(request, authorization));
    if (request.sessionCaller !== undefined) return request.sessionCaller;
    if (request.headers['signature-input'] === undefined) {
      throw credentialNeeded('An API key is needed: send Authorization: Bearer <API key>.');
    }
    if (!takesSignatures) {
      throw credentialNeeded('An API key is needed; signed requests are for the external-events routes.');
    }
    return this.failures.counted(request, () => this.ofSignature(request));
  }

  private ofSignature(request: Request): Promise<Principal> {
    const verify = (): Promise<Principal> => this.verifier.verify<Principal>(SIGNATURE_STRATEGY, request);
    return this.refusedSignatures.unlessRefused(
      () => signedHeadHash(request),
      () => this.failures.lookUp(request, verify),
    );
  }

  private ofApiKey(request: Request, header: string): Principal | Promise<Principal> {
    const verify = (): Promise<Principal> => this.verifier.verify<Principal>(API_KEY_STRATEGY, request);
    const known = this.memory.principalOf(apiKeyIn(header), (wasGood) =>
      wasGood ? verify() : this.failures.lookUp(request, verify),
    );
    return andThen(known, (principal) => this.inForce(principal));
  }

  private inForce(principal: Principal): Principal {
    if (principal.expiresAt !== null && principal.expiresAt <= this.clock.now().getTime()) {
      throw credentialRefused('api_key_expired', 'The API key has expired; rotate it or create a new one.');
    }
    return principal;
  }
}

/** Throws `insufficient_scope` unless the principal has the scopes of the route. */
function admit(request: AuthenticatedRequest, { scopes, unmasks }: RouteAccess, principal: Principal): void {
  const required = unmasks && request.query['unmask'] === 'true' ? [...scopes, 'pii:read' as const] : scopes;
  const missing = required.find((scope) => !grants(principal.scopes, scope));
  if (missing !== undefined) throw scopeMissing(missing);
  request.caller = principal;
}

/** The access rules of a route, from its decorators. */
interface RouteAccess {
  readonly scopes: readonly Scope[];
  readonly unmasks: boolean;
  readonly takesSignatures: boolean;
}

function accessOf(reflector: Reflector, targets: Parameters<Reflector['getAllAndOverride']>[1]): RouteAccess {
  const scope = reflector.getAllAndOverride<Scope | undefined>(REQUIRED_SCOPE, targets);
  if (scope === undefined) throw new Error('A route authenticates without naming its scope');
  const further = reflector.getAllAndOverride<readonly Scope[] | undefined>(FURTHER_SCOPES, targets) ?? [];
  return {
    scopes: [scope, ...further],
    unmasks: reflector.getAllAndOverride<boolean | undefined>(UNMASKS, targets) === true,
    takesSignatures: reflector.getAllAndOverride<boolean | undefined>(TAKES_SIGNATURES, targets) === true,
  };
}

function apiKeyIn(header: string): string {
  const credential = bearerCredential(header);
  if (credential === undefined) {
    throw credentialNeeded('The Authorization header is not of the form Bearer <API key>.');
  }
  if (looksLikeJwt(credential)) {
    throw credentialRefused('invalid_api_key', 'This route takes an API key; a JWT is for the runtime routes.');
  }
  if (credential.length > CREDENTIAL_CHARACTERS_MAX) {
    throw credentialRefused('invalid_api_key', 'The API key is not known.');
  }
  return credential;
}

/** A cache key of all parts of a request that its signature covers. */
function signedHeadHash({ method, originalUrl, headers }: Request): string {
  const parts = [headers['signature-input'], headers['signature'], headers['content-digest']];
  return hash('sha256', JSON.stringify([method, originalUrl, ...parts]), 'base64');
}
