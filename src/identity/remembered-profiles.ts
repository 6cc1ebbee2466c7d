import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { tenantIdentifierKey, type TenantIdentifier } from './domain/identifier';
import type { CustomerProfile, KnownIdentifier, TenantClaim, TenantPlan } from './domain/identity-batch';

/**
 * The customer of a claim, by the memory of this node: the profile that owns its strongest identifier. `unknown`: the
 * memory knows no identifier of the claim. `unclear`: it knows some of them, or they belong to several customers.
 */
type RecalledCustomer = CustomerProfile | 'unknown' | 'unclear';

/** The customers of claims, by the memory of this node; the database has not confirmed them. */
export interface RecalledIdentities {
  /** For each claim, in their order. */
  readonly resolutions: readonly RecalledCustomer[];
  /** Every profile that the resolutions depend on, each once. */
  readonly profiles: readonly CustomerProfile[];
}

/** One entry takes about 300 bytes. */
const IDENTIFIERS_MAX = 50_000;

/**
 * The profiles and customers that own identifiers, as this node last read or wrote them. An identifier never moves to
 * another profile. But any node may erase the profile or merge its customer, so the database must confirm what the
 * memory says (`ProfileRepository.holdProfilesLast`). It cannot confirm that an identifier still belongs to its profile: only
 * a failover loses such a row, and the memory is cleared with the session that is lost then.
 */
@Injectable()
export class RememberedProfiles {
  /** Each entry has size 1. With `max` the cache would allocate all its memory at the start. */
  private readonly profiles = new LRUCache<string, CustomerProfile>({
    maxSize: IDENTIFIERS_MAX,
    sizeCalculation: () => 1,
  });

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
    const created = new Map(newProfiles.map(({ profileId, rootId }) => [profileId, { tenantId, profileId, rootId }]));
    for (const { kind, value, profileId } of newIdentifiers) {
      const profile = created.get(profileId);
      if (profile !== undefined) this.profiles.set(tenantIdentifierKey({ tenantId, kind, value }), profile);
    }
  }

  /** Resolves claims; see `RecalledIdentities`. */
  resolve(claims: readonly Pick<TenantClaim, 'tenantId' | 'identifiers'>[]): RecalledIdentities {
    const profiles = new Map<string, CustomerProfile>();
    const resolutions = claims.map(({ tenantId, identifiers }): RecalledCustomer => {
      const owners = identifiers.map(({ kind, value }) => this.of({ tenantId, kind, value }));
      const [strongest] = owners;
      if (strongest === undefined) return owners.every((owner) => owner === undefined) ? 'unknown' : 'unclear';
      for (const owner of owners) {
        if (owner?.rootId !== strongest.rootId) return 'unclear';
        // The memory may hold two roots for one profile, read before and after a change of its customer.
        if ((profiles.get(owner.profileId) ?? owner).rootId !== owner.rootId) return 'unclear';
        profiles.set(owner.profileId, owner);
      }
      return strongest;
    });
    return { resolutions, profiles: [...profiles.values()] };
  }

  clear(): void {
    this.profiles.clear();
  }

  private of(identifier: TenantIdentifier): CustomerProfile | undefined {
    return this.profiles.get(tenantIdentifierKey(identifier));
  }
}
