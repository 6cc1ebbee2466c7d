import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiKeyPrincipals, type NamedPrincipal } from '../api-keys/api-key-principals';
import { Clock } from '../platform/values/clock';
import { andThen } from '../platform/async/and-then';
import { credentialRefused } from '../platform/errors/challenges';
import { InvalidatingCache } from '../platform/invalidation/invalidating-cache';
import { InvalidationFeed } from '../platform/invalidation/invalidation-feed';
import { SessionGrantSources, type SessionGrants } from './session-grants';

/** More than the sessions of one node. The least recently used ones are evicted. */
const KEYS_MAX = 1_000;

/** The rights of sessions that were opened with an API key: those of the key, until it is revoked or expires. */
@Injectable()
export class KeyGrants implements SessionGrants, OnModuleInit {
  private readonly known: InvalidatingCache<NamedPrincipal>;

  constructor(
    private readonly keys: ApiKeyPrincipals,
    private readonly sources: SessionGrantSources,
    private readonly clock: Clock,
    feed: InvalidationFeed,
  ) {
    this.known = new InvalidatingCache(feed, clock, KEYS_MAX);
  }

  onModuleInit(): void {
    this.sources.register('key', this);
  }

  /** Throws `api_key_revoked`, `api_key_expired` and `invalid_api_key`. */
  rightsOf(tenantId: string, keyId: string): NamedPrincipal | Promise<NamedPrincipal> {
    const cacheKey = `${tenantId}/${keyId}`;
    const found =
      this.known.recall(cacheKey) ??
      this.known.learn(cacheKey, async () => {
        const subject = { tenantId, kind: 'api_key', id: keyId };
        return { value: await this.keys.ofId(tenantId, keyId), subject };
      });
    return andThen(found, (rights) => this.inForce(rights));
  }

  private inForce(rights: NamedPrincipal): NamedPrincipal {
    const { expiresAt } = rights.principal;
    if (expiresAt !== null && expiresAt <= this.clock.now().getTime()) {
      throw credentialRefused('api_key_expired', 'The API key of this session has expired; sign in with another one.');
    }
    return rights;
  }
}
