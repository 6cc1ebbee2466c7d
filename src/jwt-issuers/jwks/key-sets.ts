import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ConcurrencyLimiter, type ConcurrencyPolicy } from '../../platform/async/concurrency-limiter';
import { Clock } from '../../platform/values/clock';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { fetchJwks, JwksFetchError } from './fetch-jwks';
import { KeySetSource } from './key-set-source';
import { usableKeys, type PublicKey, type KeySelector } from './public-keys';
import { hostResolver, type ResolveHost } from './resolve-host';

/** Where the keys of an issuer come from. */
export interface PublishingIssuer {
  readonly tenantId: string;
  readonly id: string;
  readonly jwksUri: string;
}

/** Beyond so many issuers in use, the keys of the workspace's least used one are fetched again when they are needed. */
const ISSUERS_PER_WORKSPACE_MAX = 50;
/** Beyond so many workspaces in use, those of the least used one are. */
const WORKSPACES_MAX = 1_000;

/**
 * A workspace whose sources never answer holds its own two places and nobody else's. One process has room for 32 such
 * workspaces; 64 bodies of 64 KiB are 4 MiB. A wait is as long as a fetch may take, so that whoever waits has a turn even
 * behind two that fail.
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

/** The keys that issuers publish, kept in the memory of this process. */
@Injectable()
export class KeySets {
  /** By workspace, so that none can push the keys of another one out. */
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
   * The keys that a token of the issuer may have been signed with; none when the issuer has none that fits. Throws
   * `unavailable` (503) when the issuer's keys have not been seen for a day.
   */
  keysFor(issuer: PublishingIssuer, wanted: KeySelector): Promise<readonly KeyObject[]> {
    return this.sourceOf(issuer).keysFor(wanted);
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
