import { hash } from 'node:crypto';
import type { Clock } from '../values/clock';
import type { InvalidationFeed } from '../invalidation/invalidation-feed';
import { InvalidatingCache } from '../invalidation/invalidating-cache';
import { NegativeCache } from '../invalidation/negative-cache';
import type { Verified } from './principal';

/** More credentials than one node sees in a minute; beyond it the least used ones are looked up again. */
const CREDENTIALS_MAX = 10_000;

/**
 * Remembers whom a verified bearer credential belongs to, by the credential's hash, until any node changes what it was
 * verified against: the control object of this kind whose id is the principal's `credentialId`. Refused ones are remembered
 * for a moment.
 */
export class CredentialMemory<Caller extends Verified> {
  private readonly memory: InvalidatingCache<Caller>;

  constructor(
    private readonly kind: string,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.memory = new InvalidatingCache(feed, clock, CREDENTIALS_MAX, new NegativeCache(kind, feed, clock));
  }

  /**
   * Gives the principal of a credential, asking `verify` unless it is remembered: then at once, for nearly every request is of
   * somebody who was here before. What `verify` throws is passed on; it is told whether the credential was good before. The same
   * credential for another `workspace`, which the request names, is another one.
   */
  principalOf(
    credential: string,
    verify: (wasGood: boolean) => Promise<Caller>,
    workspace?: string,
  ): Caller | Promise<Caller> {
    // No credential has a line break.
    const key = hash('sha256', workspace === undefined ? credential : `${credential}\n${workspace}`, 'base64');
    return this.memory.recall(key) ?? this.learn(key, () => verify(this.memory.wasKnown(key)));
  }

  private learn(key: string, verify: () => Promise<Caller>): Promise<Caller> {
    return this.memory.learn(key, async () => {
      const principal = await verify();
      return {
        value: principal,
        subject: { tenantId: principal.tenantId, kind: this.kind, id: principal.credentialId },
      };
    });
  }
}

/** One space, as RFC 6750 has it and the strategies read it. */
const BEARER = /^Bearer ([^\s]+)$/i;
/** Three dot-separated parts, the first a base64url JSON object. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/** The credential of an Authorization header of the Bearer scheme; undefined for any other header. */
export function bearerCredential(header: string): string | undefined {
  return BEARER.exec(header)?.[1];
}

/** Whether it is written like a JWT, by its beginning and its parts alone; nothing of it is verified. */
export function looksLikeJwt(credential: string): boolean {
  return JWT.test(credential);
}
