import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { JWT_STRATEGY } from '../platform/auth/auth-metadata';
import { credentialRefused } from '../platform/errors/challenges';
import { CredentialVerifier } from '../platform/auth/credential-verifier';
import type { Participant } from '../platform/auth/principal';
import { namedWorkspace } from '../platform/auth/workspace-header';
import { Clock } from '../platform/values/clock';
import { isObject } from '../platform/values/json/is-object';
import { readToken } from './domain/compact-token';
import { JWT_ALGORITHMS } from './domain/jwt-algorithms';
import { checkClaims } from './domain/token-claims';
import { KnownIssuers, type KnownIssuer } from './known-issuers';
import { TokenKeys } from './token-keys';

/** What the library is shown of a request, and what is found out about its token on the way. */
interface TokenRequest {
  readonly headers: Request['headers'];
  issuer?: KnownIssuer;
  /** Ends the authentication with an error of ours, as it is. */
  readonly end: (error: Error) => void;
}

/**
 * Verifies the JWT of a participant: passport-jwt the signature; who may sign with what, the claims, and the times are judged
 * by rules of ours, because the library knows one issuer, takes tokens without exp or sub, and has one tolerance for all.
 */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, JWT_STRATEGY) {
  constructor(
    private readonly issuers: KnownIssuers,
    private readonly keys: TokenKeys,
    private readonly clock: Clock,
    verifier: CredentialVerifier,
  ) {
    const findKey = (request: TokenRequest, token: string): Promise<KeyObject> => this.keyOf(request, token);
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: (request: TokenRequest, token: string, done) => {
        findKey(request, token)
          // The library hands it to jsonwebtoken, which takes a KeyObject, only the types do not say so.
          .then((key) => done(null, key as unknown as Buffer))
          .catch(request.end);
      },
      algorithms: [...JWT_ALGORITHMS],
      ignoreExpiration: true,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else keeps the library from judging nbf
      jsonWebTokenOptions: { ignoreNotBefore: true },
      passReqToCallback: true,
    });
    verifier.use(JWT_STRATEGY, this);
  }

  override authenticate(request: Request): void {
    // Passport makes a strategy object for each request, with `fail` and `error` of its own. What we refuse goes through
    // `error`; then `fail` is left to the library, whose words are not ours and may quote the token.
    const actions = this as { fail: (refusal: Error, status: number) => void };
    const { fail } = actions;
    actions.fail = () =>
      fail(credentialRefused('invalid_token', 'The signature of the token is not that of its issuer.'), 401);
    const asked: TokenRequest = { headers: request.headers, end: (error) => this.error(error) };
    super.authenticate(asked as unknown as Request);
  }

  /** `payload` is the library's reading of a token whose signature is good. */
  validate({ issuer }: TokenRequest, payload: unknown): Participant {
    if (issuer === undefined || !isObject(payload)) throw new Error('A token was verified that was not read before');
    const judged = checkClaims(payload, issuer.record, this.clock.now().getTime());
    if ('refused' in judged) throw credentialRefused('invalid_token', judged.refused);
    return judged.participant;
  }

  private async keyOf(request: TokenRequest, token: string): Promise<KeyObject> {
    const read = readToken(token);
    if ('refused' in read) throw credentialRefused('invalid_token', read.refused);
    const { head } = read;
    request.issuer = await this.issuers.find(head.issuer, head.audiences, namedWorkspace(request.headers));
    return this.keys.keyFor(request.issuer, token, head);
  }
}
