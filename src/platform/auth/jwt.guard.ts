import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../values/clock';
import { checkAgainLater } from '../http/service-request';
import { InvalidationFeed } from '../invalidation/invalidation-feed';
import { andThen } from '../async/and-then';
import { JWT_STRATEGY } from './auth-metadata';
import { bearerCredential, looksLikeJwt, CredentialMemory } from './bearer-credentials';
import type { AuthenticatedRequest } from './caller.decorator';
import { credentialNeeded, credentialRefused } from '../errors/challenges';
import { CredentialVerifier } from './credential-verifier';
import { FailedAuthentications } from './failed-authentications';
import type { Participant } from './principal';
import { namedWorkspace } from './workspace-header';

/** Contract section 2. */
const TOKEN_BYTES_MAX = 8 * 1024;

/** Admits a participant with a valid JWT of a registered issuer. */
@Injectable()
export class JwtGuard implements CanActivate {
  private readonly memory: CredentialMemory<Participant>;

  constructor(
    private readonly verifier: CredentialVerifier,
    private readonly failures: FailedAuthentications,
    private readonly clock: Clock,
    feed: InvalidationFeed,
  ) {
    this.memory = new CredentialMemory('jwt_issuer', feed, clock);
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { authorization } = request.headers;
    if (authorization === undefined) {
      throw credentialNeeded('A participant token is needed: send Authorization: Bearer <JWT>.');
    }
    const verify = (): Participant | Promise<Participant> =>
      this.failures.counted(request, () => this.ofToken(request, authorization));
    return andThen(verify(), (participant) => {
      request.participant = participant;
      checkAgainLater(request, verify);
      return true;
    });
  }

  private ofToken(request: Request, header: string): Participant | Promise<Participant> {
    const verify = (): Promise<Participant> => this.verifier.verify<Participant>(JWT_STRATEGY, request);
    const known = this.memory.principalOf(
      tokenIn(header),
      (wasGood) => (wasGood ? verify() : this.failures.lookUp(request, verify)),
      namedWorkspace(request.headers),
    );
    return andThen(known, (participant) => this.inForce(participant));
  }

  private inForce(participant: Participant): Participant {
    if (participant.expiresAt <= this.clock.now().getTime()) {
      throw credentialRefused('invalid_token', 'The token has expired; get a new one from its issuer.');
    }
    return participant;
  }
}

function tokenIn(header: string): string {
  const credential = bearerCredential(header);
  if (credential === undefined) throw credentialNeeded('The Authorization header is not of the form Bearer <JWT>.');
  if (credential.length > TOKEN_BYTES_MAX) {
    throw credentialRefused('invalid_token', `The token is longer than ${TOKEN_BYTES_MAX} bytes.`);
  }
  if (!looksLikeJwt(credential)) {
    throw credentialRefused('invalid_token', 'This route takes a JWT of a participant; an API key is for backends.');
  }
  return credential;
}
