import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Clock } from '../clock/clock';
import { API_KEY_STRATEGY, REQUIRED_SCOPE } from './auth-metadata';
import type { AuthenticatedRequest } from './caller.decorator';
import { credentialNeeded, credentialRefused, scopeMissing } from './challenges';
import { CredentialMemory } from './credential-memory';
import { CredentialVerifier } from './credential-verifier';
import { grants, type Scope } from './scopes';

/** One space, as RFC 6750 has it and the strategy reads it. */
const BEARER = /^Bearer ([^\s]+)$/i;
/** Keys are 42 characters, or up to 200 when an operator chose one; what is longer is some other thing. */
const CREDENTIAL_CHARACTERS_MAX = 8_192;
/** Three dot-separated parts, the first a base64url JSON object. */
const LOOKS_LIKE_JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/** Lets a call through whose API key is known, in force, and has the scope that the route asks for. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: CredentialVerifier,
    private readonly memory: CredentialMemory,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const credential = bearerCredential(request.headers.authorization);
    const principal = await this.memory.principalOf(credential, 'api_key', () =>
      this.verifier.verify(API_KEY_STRATEGY, request),
    );
    if (principal.expiresAt !== null && principal.expiresAt <= this.clock.now().getTime()) {
      throw credentialRefused('api_key_expired', 'The API key has expired; rotate it or create a new one.');
    }
    const scope = this.reflector.getAllAndOverride<Scope | undefined>(REQUIRED_SCOPE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (scope === undefined) throw new Error('A route authenticates without saying which scope it asks for');
    if (!grants(principal.scopes, scope)) throw scopeMissing(scope);
    request.caller = principal;
    return true;
  }
}

function bearerCredential(header: string | undefined): string {
  if (header === undefined) throw credentialNeeded('An API key is needed: send Authorization: Bearer <API key>.');
  const credential = BEARER.exec(header)?.[1];
  if (credential === undefined) {
    throw credentialNeeded('The Authorization header is not of the form Bearer <API key>.');
  }
  if (LOOKS_LIKE_JWT.test(credential)) {
    throw credentialRefused('invalid_api_key', 'This route takes an API key; a JWT is for the runtime routes.');
  }
  if (credential.length > CREDENTIAL_CHARACTERS_MAX) {
    throw credentialRefused('invalid_api_key', 'The API key is not known.');
  }
  return credential;
}
