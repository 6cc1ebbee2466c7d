import { hash } from 'node:crypto';
import type { Clock } from '../values/clock';
import type { InvalidationFeed } from '../invalidation/invalidation-feed';
import { InvalidatingCache } from '../invalidation/invalidating-cache';
import { NegativeCache } from '../invalidation/negative-cache';
import type { Verified } from './principal';

/** More credentials than one node sees in a minute. The least recently used ones are evicted. */
const CREDENTIALS_MAX = 10_000;

/**
 * Caches the principals of verified bearer credentials by the hash of the credential. An entry is valid until any node
 * changes the record of this kind with the id `credentialId`. Refusals are cached for less than a second.
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
   * Returns the principal of a credential: at once when it is cached, as for most requests, else from `verify`. `wasGood`:
   * the credential was valid before. Errors of `verify` are thrown. The cache key includes the `workspace` of the request.
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

/** With exactly one space (RFC 6750), as the strategies read it. */
const BEARER = /^Bearer ([^\s]+)$/i;
/** Three dot-separated parts, the first a base64url JSON object. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/** The credential of an Authorization header of the Bearer scheme; undefined for any other header. */
export function bearerCredential(header: string): string | undefined {
  return BEARER.exec(header)?.[1];
}

/** Whether a credential has the form of a JWT. Nothing is verified. */
export function looksLikeJwt(credential: string): boolean {
  return JWT.test(credential);
}
