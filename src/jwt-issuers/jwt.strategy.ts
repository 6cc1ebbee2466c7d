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
import { isObject } from '../platform/values/json/json-values';
import { readToken } from './domain/compact-token';
import { JWT_ALGORITHMS } from './domain/jwt-algorithms';
import { checkClaims } from './domain/token-claims';
import { KnownIssuers, type KnownIssuer } from './known-issuers';
import { TokenKeys } from './token-keys';

/** The part of a request that passport-jwt gets, with the issuer that is found while it verifies the token. */
interface TokenRequest {
  readonly headers: Request['headers'];
  issuer?: KnownIssuer;
  /** Ends the authentication with this error. */
  readonly end: (error: Error) => void;
}

/**
 * Verifies the JWT of a participant. passport-jwt verifies the signature. Our own rules check the issuer, its algorithms,
 * the claims and the times: the library knows one issuer, accepts tokens without exp or sub, and has one tolerance for all.
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
          // The library passes it to jsonwebtoken, which takes a KeyObject; the types do not say so.
          .then((key) => done(null, key as unknown as Buffer))
          .catch(request.end);
      },
      algorithms: [...JWT_ALGORITHMS],
      ignoreExpiration: true,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- no other option keeps the library from checking nbf
      jsonWebTokenOptions: { ignoreNotBefore: true },
      passReqToCallback: true,
    });
    verifier.use(JWT_STRATEGY, this);
  }

  override authenticate(request: Request): void {
    // Passport makes a strategy object per request, with its own `fail` and `error`. Our refusals use `error`. Only the
    // library calls `fail`, and its message may quote the token, so it is replaced.
    const actions = this as { fail: (refusal: Error, status: number) => void };
    const { fail } = actions;
    actions.fail = () =>
      fail(credentialRefused('invalid_token', 'The signature of the token is not that of its issuer.'), 401);
    const tokenRequest: TokenRequest = { headers: request.headers, end: (error) => this.error(error) };
    super.authenticate(tokenRequest as unknown as Request);
  }

  /** `payload` is the parsed payload of a token with a valid signature. */
  validate({ issuer }: TokenRequest, payload: unknown): Participant {
    if (issuer === undefined || !isObject(payload)) throw new Error('A token was verified that was not read before');
    const checked = checkClaims(payload, issuer.record, this.clock.now().getTime());
    if ('refused' in checked) throw credentialRefused('invalid_token', checked.refused);
    return checked.participant;
  }

  private async keyOf(request: TokenRequest, token: string): Promise<KeyObject> {
    const read = readToken(token);
    if ('refused' in read) throw credentialRefused('invalid_token', read.refused);
    const { head } = read;
    request.issuer = await this.issuers.find(head.issuer, head.audiences, namedWorkspace(request.headers));
    return this.keys.keyFor(request.issuer, token, head);
  }
}
