import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CustomerLocks } from './customer-locks';
import type { CountedKind } from './domain/known-identities';
import type { Link, LinkedCustomer, Split } from './domain/split-customer';
import { ProfileMerge } from './entities/profile-merge.entity';
import { UndoneMergeSide } from './entities/undone-merge-side.entity';

/** A customer whose root the caller has locked, with what an undo needs. */
export interface LockedCustomer extends LinkedCustomer {
  /** The merges that are not undone. */
  readonly links: readonly (Link & { readonly id: string })[];
  /** The number of identifiers of each kind that each profile owns. */
  readonly owned: readonly OwnedIdentifiers[];
}

interface OwnedIdentifiers {
  readonly profileId: string;
  readonly kind: string;
  readonly count: number;
  /** The value, if the kind is EXTERNAL; else null. */
  readonly externalId: string | null;
}

/** The profiles on the other sides of the undone merges that profiles $2 were on a side of. */
const READ_SEPARATED = `
  WITH sides AS MATERIALIZED (
    SELECT id AS merge_id, 'from' AS side FROM profile_merges
    WHERE tenant_id = $1 AND from_evidence_id = ANY($2) AND undone_at IS NOT NULL
    UNION
    SELECT id, 'into' FROM profile_merges
    WHERE tenant_id = $1 AND into_evidence_id = ANY($2) AND merged_at > '-infinity' AND undone_at IS NOT NULL
    UNION
    SELECT merge_id, side FROM undone_merge_sides WHERE tenant_id = $1 AND profile_id = ANY($2)
  ), others AS MATERIALIZED (
    SELECT CASE s.side WHEN 'from' THEN m.into_evidence_id ELSE m.from_evidence_id END AS profile_id
    FROM sides s JOIN profile_merges m ON m.tenant_id = $1 AND m.id = s.merge_id
    UNION
    SELECT u.profile_id
    FROM sides s JOIN undone_merge_sides u ON u.tenant_id = $1 AND u.merge_id = s.merge_id AND u.side <> ''
    WHERE u.side <> s.side
  )
  SELECT p.profile_id AS id
  FROM others o JOIN profiles p ON p.tenant_id = $1 AND p.profile_id = o.profile_id
  WHERE p.erased_at IS NULL`;

/** The log of merges, and the statements of an undo. */
@Injectable()
export class MergeRepository {
  constructor(
    private readonly database: DataSource,
    private readonly locks: CustomerLocks,
  ) {}

  find(tenantId: string, id: string, manager = this.database.manager): Promise<ProfileMerge | null> {
    return manager.findOneBy(ProfileMerge, { tenantId, id });
  }

  /** The merges of these profiles, undone ones too, with ids below `start`: at most `limit` + 1, newest first. */
  list(tenantId: string, profileIds: readonly string[], start: string, limit: number): Promise<ProfileMerge[]> {
    return (
      this.database.manager
        .createQueryBuilder(ProfileMerge, 'merge')
        .where('merge.tenantId = :tenantId', { tenantId })
        // Always true; lets PostgreSQL use the partial indexes.
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

  /** The profiles that undone merges have separated from these, without erased ones. */
  async separatedFrom(tenantId: string, profileIds: readonly string[]): Promise<string[]> {
    const rows: { id: string }[] = await this.database.query(READ_SEPARATED, [tenantId, profileIds]);
    return rows.map(({ id }) => id);
  }

  /** The caller holds the lock of the root. */
  async lockedCustomer(manager: EntityManager, tenantId: string, rootId: string): Promise<LockedCustomer> {
    const members = await this.locks.membersOf(manager, tenantId, rootId);
    const ids = members.map(({ profileId }) => profileId);
    const links: (Link & { id: string })[] = await manager.query(
      `SELECT id, from_evidence_id AS "fromEvidenceId", into_evidence_id AS "intoEvidenceId" FROM profile_merges
       WHERE tenant_id = $1 AND from_evidence_id = ANY($2) AND merged_at > '-infinity' AND undone_at IS NULL`,
      [tenantId, ids],
    );
    const owned: OwnedIdentifiers[] = await manager.query(
      `SELECT profile_id AS "profileId", kind, count(*)::int AS count,
         max(value) FILTER (WHERE kind = 'EXTERNAL') AS "externalId"
       FROM profile_identifiers
       WHERE tenant_id = $1 AND profile_id = ANY($2) AND kind <> '' GROUP BY profile_id, kind`,
      [tenantId, ids],
    );
    const externalProfileId = owned.find(({ externalId }) => externalId !== null)?.profileId;
    return { rootId, members, externalProfileId, links, owned };
  }

  /** Splits a locked customer in two, and writes the values of each into the row of its root. */
  async split(
    manager: EntityManager,
    tenantId: string,
    { owned }: LockedCustomer,
    { from, into }: Split,
  ): Promise<void> {
    for (const { rootId, profileIds } of [from, into]) {
      await manager.query(
        `UPDATE profiles SET root_id = $3, external_id = NULL, version = version + 1
         WHERE tenant_id = $1 AND profile_id = ANY($2) AND root_id <> $3`,
        [tenantId, profileIds, rootId],
      );
      const own = owned.filter(({ profileId }) => profileIds.includes(profileId));
      await manager.query(
        `UPDATE profiles SET external_id = $3, email_count = $4, phone_count = $5, device_count = $6, version = version + 1
         WHERE tenant_id = $1 AND profile_id = $2`,
        [tenantId, rootId, externalIdOf(own), countOf('EMAIL', own), countOf('PHONE', own), countOf('DEVICE', own)],
      );
    }
  }

  /** Stores the two sides, so that no profile of one side merges with a profile of the other again. */
  async keepApart(
    manager: EntityManager,
    tenantId: string,
    { id: mergeId, fromEvidenceId, intoEvidenceId }: Link & { readonly id: string },
    split: Split,
  ): Promise<void> {
    const sides = (['from', 'into'] as const).flatMap((side) =>
      split[side].profileIds.map((profileId) => ({ tenantId, profileId, mergeId, side })),
    );
    const others = sides.filter(({ profileId }) => profileId !== fromEvidenceId && profileId !== intoEvidenceId);
    if (others.length > 0) await manager.insert(UndoneMergeSide, others);
  }

  async markUndone(manager: EntityManager, tenantId: string, id: string, at: Date): Promise<void> {
    await manager.update(ProfileMerge, { tenantId, id }, { undoneAt: at });
  }
}

function countOf(kind: CountedKind, owned: readonly OwnedIdentifiers[]): number {
  return owned.reduce((sum, each) => (each.kind === kind ? sum + each.count : sum), 0);
}

function externalIdOf(owned: readonly OwnedIdentifiers[]): string | null {
  return owned.find(({ externalId }) => externalId !== null)?.externalId ?? null;
}
