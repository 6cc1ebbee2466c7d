import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-http-bearer';
import { API_KEY_STRATEGY } from '../platform/auth/auth-metadata';
import { CredentialVerifier } from '../platform/auth/credential-verifier';
import type { Principal } from '../platform/auth/principal';
import { ApiKeyPrincipals } from './api-key-principals';

/** Verifies the API key of a request. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(Strategy, API_KEY_STRATEGY) {
  constructor(
    private readonly principals: ApiKeyPrincipals,
    verifier: CredentialVerifier,
  ) {
    super();
    verifier.use(API_KEY_STRATEGY, this);
  }

  /** Passes the headers only: the library would also take `access_token` from the query and the body. */
  override authenticate(request: Request): void {
    super.authenticate({ headers: request.headers } as Request);
  }

  async validate(key: string): Promise<Principal> {
    return (await this.principals.ofKey(key)).principal;
  }
}
