import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { tenantIdentifierKey, type TenantIdentifier } from './domain/tenant-identifier';
import type { CustomerProfile, KnownIdentifier, TenantPlan } from './profile.repository';

/** One takes some 300 bytes. */
const IDENTIFIERS_MAX = 50_000;

/**
 * Who was known by which identifier when this node last looked, or was made known by it. An identifier belongs to its profile for
 * ever, so that this stays true until the profile is erased or its customer becomes another one, which other nodes do at any time:
 * whoever goes by it has the database confirm it (`ProfileRepository.holdProfilesLast`).
 */
@Injectable()
export class RememberedProfiles {
  private readonly profiles = new LRUCache<string, CustomerProfile>({ max: IDENTIFIERS_MAX });

  remember(known: readonly (TenantIdentifier & Pick<KnownIdentifier, 'profile'>)[]): void {
    for (const identifier of known) {
      const key = tenantIdentifierKey(identifier);
      const { profileId, rootId, erased } = identifier.profile;
      const before = this.profiles.get(key);
      if (erased) this.profiles.delete(key);
      else if (before?.profileId !== profileId || before.rootId !== rootId)
        this.profiles.set(key, { tenantId: identifier.tenantId, profileId, rootId });
    }
  }

  /** Remembers the customers that a plan has made; not those that it has changed, which the next look tells. */
  rememberNew({ tenantId, plan: { newProfiles, newIdentifiers } }: TenantPlan): void {
    const made = new Map(newProfiles.map(({ profileId, rootId }) => [profileId, { profileId, rootId, erased: false }]));
    for (const { kind, value, profileId } of newIdentifiers) {
      const profile = made.get(profileId);
      if (profile !== undefined) this.remember([{ tenantId, kind, value, profile }]);
    }
  }

  of(identifier: TenantIdentifier): CustomerProfile | undefined {
    return this.profiles.get(tenantIdentifierKey(identifier));
  }
}
