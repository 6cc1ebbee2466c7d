import { types } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Passport, type Strategy } from 'passport';
import { credentialNeeded } from '../errors/challenges';
import type { Verified } from './principal';

/**
 * One Passport instance per application. The library's global instance is shared by the process: the strategies of a second
 * application, with another database, would replace those of the first.
 */
@Injectable()
export class CredentialVerifier {
  private readonly passport = new Passport();

  use(name: string, strategy: Strategy): void {
    this.passport.use(name, strategy);
  }

  /** Verifies the credential of a request by a strategy. Throws the strategy's refusal. */
  verify<Caller extends Verified>(name: string, request: Request): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const answer = (error: unknown, principal: Caller | false | undefined, refusal: unknown): void => {
        if (types.isNativeError(error)) reject(error);
        else if (principal) resolve(principal);
        else reject(types.isNativeError(refusal) ? refusal : credentialNeeded('A credential is needed.'));
      };
      const authenticate = this.passport.authenticate(name, { session: false }, answer) as (
        request: Request,
        response: undefined,
        next: (error?: unknown) => void,
      ) => void;
      authenticate(request, undefined, reject);
    });
  }
}
