import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CustomerLocks } from './customer-locks';
import { COUNTED_KINDS, type CountedKind } from './domain/customer-groups';
import type { Link, Member } from './domain/split-customer';
import { ProfileMerge } from './entities/profile-merge.entity';

/** What undoing a merge must know of a customer whose root the caller has locked. */
export interface LockedCustomer {
  readonly rootId: string;
  readonly members: readonly Member[];
  /** Of the merges in force. */
  readonly links: readonly (Link & { readonly id: string })[];
  /** How many identifiers of each kind the profiles own. */
  readonly owned: readonly OwnedIdentifiers[];
}

interface OwnedIdentifiers {
  readonly profileId: string;
  readonly kind: string;
  readonly count: number;
}

/** The log of merges, and customers while merges are undone. */
@Injectable()
export class MergeRepository {
  constructor(
    private readonly database: DataSource,
    private readonly locks: CustomerLocks,
  ) {}

  find(tenantId: string, id: string, manager = this.database.manager): Promise<ProfileMerge | null> {
    return manager.findOneBy(ProfileMerge, { tenantId, id });
  }

  /** The merges that these profiles have to do with, undone ones too: `limit` and one more, newest first, below the id `start`. */
  list(tenantId: string, profileIds: readonly string[], start: string, limit: number): Promise<ProfileMerge[]> {
    return (
      this.database.manager
        .createQueryBuilder(ProfileMerge, 'merge')
        .where('merge.tenantId = :tenantId', { tenantId })
        // Always so, and the condition of the indexes.
        .andWhere("merge.mergedAt > '-infinity'")
        .andWhere('(merge.fromEvidenceId = ANY(:profileIds) OR merge.intoEvidenceId = ANY(:profileIds))', {
          profileIds,
        })
        .andWhere('merge.id < :start', { start })
        .orderBy({ 'merge.id': 'DESC' })
        .limit(limit + 1)
        .getMany()
    );
  }

  /** To be asked under the lock of the root. */
  async lockedCustomer(manager: EntityManager, tenantId: string, rootId: string): Promise<LockedCustomer> {
    const members = await this.locks.membersOf(manager, tenantId, rootId);
    const ids = members.map(({ profileId }) => profileId);
    const links: (Link & { id: string })[] = await manager.query(
      `SELECT id, from_evidence_id AS "fromEvidenceId", into_evidence_id AS "intoEvidenceId" FROM profile_merges
       WHERE tenant_id = $1 AND from_evidence_id = ANY($2) AND merged_at > '-infinity' AND undone_at IS NULL`,
      [tenantId, ids],
    );
    const owned: OwnedIdentifiers[] = await manager.query(
      `SELECT profile_id AS "profileId", kind, count(*)::int AS count FROM profile_identifiers
       WHERE tenant_id = $1 AND profile_id = ANY($2) AND kind <> '' GROUP BY profile_id, kind`,
      [tenantId, ids],
    );
    return { rootId, members, links, owned };
  }

  /** Makes profiles of a locked customer one of their own, and counts both anew. */
  async part(
    manager: EntityManager,
    tenantId: string,
    { rootId, members, owned }: LockedCustomer,
    leaving: readonly string[],
    newRootId: string,
  ): Promise<void> {
    await manager.query(
      `UPDATE profiles SET root_id = $3, version = version + 1 WHERE tenant_id = $1 AND profile_id = ANY($2)`,
      [tenantId, leaving, newRootId],
    );
    const staying = members.map(({ profileId }) => profileId).filter((profileId) => !leaving.includes(profileId));
    for (const [id, profileIds] of [
      [rootId, staying],
      [newRootId, leaving],
    ] as const) {
      await manager.query(
        `UPDATE profiles SET email_count = $3, phone_count = $4, device_count = $5, version = version + 1
         WHERE tenant_id = $1 AND profile_id = $2`,
        [tenantId, id, ...COUNTED_KINDS.map((kind) => countOf(kind, profileIds, owned))],
      );
    }
  }

  async markUndone(manager: EntityManager, tenantId: string, id: string, at: Date): Promise<void> {
    await manager.update(ProfileMerge, { tenantId, id }, { undoneAt: at });
  }
}

function countOf(kind: CountedKind, profileIds: readonly string[], owned: readonly OwnedIdentifiers[]): number {
  const counted = owned.filter((each) => each.kind === kind && profileIds.includes(each.profileId));
  return counted.reduce((sum, { count }) => sum + count, 0);
}
