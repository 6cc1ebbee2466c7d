import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { tenantIdentifierKey, type TenantIdentifier } from './domain/identifier';
import type { CustomerProfile, KnownIdentifier, TenantPlan } from './domain/identity-batch';

/** One entry takes about 300 bytes. */
const IDENTIFIERS_MAX = 50_000;

/**
 * The profiles and customers that own identifiers, as this node last read or wrote them. An identifier never moves to
 * another profile. But any node may erase the profile or merge its customer, so the database must confirm what the
 * memory says (`ProfileRepository.holdProfilesLast`).
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

  /** Remembers the customers that a plan created. Those that it changed are read again on their next use. */
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
