import type { KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../platform/clock/clock';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { fetchJwks } from './fetch-jwks';
import { KeySetSource } from './key-set-source';
import { usableKeys, type WantedKey } from './public-keys';

/** Where the keys of an issuer come from. */
export interface PublishingIssuer {
  readonly tenantId: string;
  readonly id: string;
  readonly jwksUri: string;
}

/** Beyond so many issuers in use, the keys of the least used one are fetched again when they are needed. */
const ISSUERS_MAX = 1_000;

/** The keys that issuers publish, kept in the memory of this process. */
@Injectable()
export class KeySets {
  private readonly sources = new LRUCache<string, KeySetSource>({ max: ISSUERS_MAX });
  private readonly allowPrivate: boolean;

  constructor(
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Pick<Settings, 'jwksAllowPrivate'>,
  ) {
    this.allowPrivate = settings.jwksAllowPrivate === 'true';
  }

  /**
   * The keys that a token of the issuer may have been signed with; none when the issuer has none that fits. Throws
   * `unavailable` (503) when the issuer's keys have not been seen for a day.
   */
  keysFor(issuer: PublishingIssuer, wanted: WantedKey): Promise<readonly KeyObject[]> {
    return this.sourceOf(issuer).keysFor(wanted);
  }

  private sourceOf({ tenantId, id, jwksUri }: PublishingIssuer): KeySetSource {
    const key = `${tenantId}/${id}/${jwksUri}`;
    const known = this.sources.get(key);
    if (known !== undefined) return known;
    const fetchKeys = async () => usableKeys(await fetchJwks(jwksUri, { allowPrivate: this.allowPrivate }));
    const source = new KeySetSource(`JWT issuer ${id}`, fetchKeys, this.clock);
    this.sources.set(key, source);
    return source;
  }
}
