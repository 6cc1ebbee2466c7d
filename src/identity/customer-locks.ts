import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Member } from './domain/split-customer';

/** The root of a customer. */
export interface CustomerRoot {
  readonly id: string;
  readonly erased: boolean;
}

/** Locks and reads customers for an undo or an erasure, while other nodes store events of them. */
@Injectable()
export class CustomerLocks {
  /** The root of a profile, not locked; undefined if there is no such profile. */
  async rootOf(manager: EntityManager, tenantId: string, profileId: string): Promise<CustomerRoot | undefined> {
    const [row]: CustomerRoot[] = await manager.query(
      `SELECT r.profile_id AS id, r.erased_at IS NOT NULL AS erased
       FROM profiles p JOIN profiles r ON r.tenant_id = p.tenant_id AND r.profile_id = p.root_id
       WHERE p.tenant_id = $1 AND p.profile_id = $2`,
      [tenantId, profileId],
    );
    return row;
  }

  /** Locks a customer as ingest does. Returns false if `rootId` is no root any more, or is erased. */
  async lockRoot(manager: EntityManager, tenantId: string, rootId: string): Promise<boolean> {
    const rows: unknown[] = await manager.query(
      `SELECT profile_id FROM profiles
       WHERE tenant_id = $1 AND profile_id = $2 AND root_id = profile_id AND erased_at IS NULL FOR NO KEY UPDATE`,
      [tenantId, rootId],
    );
    return rows.length > 0;
  }

  /**
   * The profiles of a customer. They stay the same while the root is locked: every change of a customer takes that lock
   * first.
   */
  async membersOf(manager: EntityManager, tenantId: string, rootId: string): Promise<Member[]> {
    const members: { id: string; at: Date }[] = await manager.query(
      `SELECT profile_id AS id, created_at AS at FROM profiles WHERE tenant_id = $1 AND profile_id = $2
       UNION ALL
       SELECT profile_id, created_at FROM profiles WHERE tenant_id = $1 AND root_id = $2 AND root_id <> profile_id`,
      [tenantId, rootId],
    );
    return members.map(({ id, at }) => ({ profileId: id, createdAt: at.getTime() }));
  }
}
