import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ConcurrencyLimiter, type ConcurrencyPolicy } from '../../platform/async/concurrency-limiter';
import { Clock } from '../../platform/values/clock';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { fetchJwks, JwksFetchError } from './fetch-jwks';
import { KeySetSource } from './key-set-source';
import { usableKeys, type PublicKey, type KeySelector } from './public-keys';
import { hostResolver, type ResolveHost } from '../../platform/net/resolve-host';

/** An issuer that publishes its keys. */
export interface PublishingIssuer {
  readonly tenantId: string;
  readonly id: string;
  readonly jwksUri: string;
}

/** Beyond this many issuers, the keys of the workspace's least recently used one are dropped and fetched again later. */
const ISSUERS_PER_WORKSPACE_MAX = 50;
/** Beyond this many workspaces, the keys of the least recently used one are dropped. */
const WORKSPACES_MAX = 1_000;

/**
 * A workspace whose sources never answer blocks only its own two fetches. 32 such workspaces fit into one process; 64 bodies
 * of 64 KiB are 4 MiB. A fetch may wait as long as a fetch may take, so that it gets its turn behind two that time out.
 */
const FETCH_POLICY: ConcurrencyPolicy = {
  runningMax: () => 2,
  runningInAllMax: 64,
  waitingMax: 50,
  waitMsMax: 5_000,
  refusal: (why) =>
    new JwksFetchError(
      why === 'too_many_wait'
        ? 'Too many key sets of its workspace wait to be fetched.'
        : 'Other key sets took too long to be fetched.',
    ),
};

/** The keys of one workspace's issuers. */
type Sources = LRUCache<string, KeySetSource>;

/** The keys that issuers publish, cached in this process. */
@Injectable()
export class KeySets {
  /** Per workspace, so that no workspace can evict the keys of another. */
  private readonly sources = new LRUCache<string, Sources>({ max: WORKSPACES_MAX });
  private readonly fetches = new ConcurrencyLimiter(FETCH_POLICY);
  private readonly resolve: ResolveHost;
  private readonly allowPrivate: boolean;

  constructor(
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Pick<Settings, 'jwksAllowPrivate' | 'jwksDnsServers'>,
  ) {
    this.allowPrivate = settings.jwksAllowPrivate === 'true';
    this.resolve = hostResolver(settings.jwksDnsServers);
  }

  /**
   * The keys that a token of the issuer may have been signed with; empty when no key fits. Throws `unavailable` (503) when
   * the issuer's keys could not be fetched for a day.
   */
  keysFor(issuer: PublishingIssuer, selector: KeySelector): Promise<readonly KeyObject[]> {
    return this.sourceOf(issuer).keysFor(selector);
  }

  private sourceOf({ tenantId, id, jwksUri }: PublishingIssuer): KeySetSource {
    const ofWorkspace = this.sources.get(tenantId) ?? new LRUCache({ max: ISSUERS_PER_WORKSPACE_MAX });
    this.sources.set(tenantId, ofWorkspace);
    const key = `${id}/${jwksUri}`;
    const known = ofWorkspace.get(key);
    if (known !== undefined) return known;
    const source = new KeySetSource(`JWT issuer ${id}`, () => this.fetch(tenantId, jwksUri), this.clock);
    ofWorkspace.set(key, source);
    return source;
  }

  private fetch(tenantId: string, jwksUri: string): Promise<readonly PublicKey[]> {
    const { allowPrivate, resolve } = this;
    return this.fetches.run(tenantId, async () => usableKeys(await fetchJwks(jwksUri, { allowPrivate, resolve })));
  }
}
