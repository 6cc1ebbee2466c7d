import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { unavailable } from '../platform/errors/unavailable';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/values/uuid';
import { idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { CustomerLocks } from './customer-locks';
import { splitCustomer } from './domain/split-customer';
import { MergeRepository } from './merge.repository';

/** A line of the log of merges. */
export interface Merge {
  readonly id: string;
  /** The root that lost, when it did. */
  readonly fromProfileId: string;
  readonly intoProfileId: string;
  /** The event that named identifiers of both. */
  readonly eventId: string;
  readonly mergedAt: Date;
  readonly undoneAt: Date | null;
}

/** Each failed attempt to lock a customer means that somebody else's change of it went through. */
const ATTEMPTS_MAX = 12;

/** Shows how customers became one, and parts them again (contract section 5, docs/adr/0024). */
@Injectable()
export class MergesService {
  constructor(
    private readonly database: DataSource,
    private readonly merges: MergeRepository,
    private readonly locks: CustomerLocks,
    private readonly clock: Clock,
  ) {}

  /** One page, newest first, of the merges that a customer's profiles have to do with. */
  async list(tenantId: string, profileIds: readonly string[], start: string, limit: number): Promise<Page<Merge>> {
    return idPage(await this.merges.list(tenantId, profileIds, start, limit), limit);
  }

  /**
   * Parts the customers that a merge made one, for good: nobody of the one meets anybody of the other again by themselves. One
   * that is undone already is answered as it is. Throws `not_found`, also for a customer who was erased.
   */
  async undo(tenantId: string, id: string): Promise<Merge> {
    if (!isUuid(id)) throw noSuchMerge();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      // A transaction each: whoever waits for a second lock while holding the first may be waited for.
      const merge = await this.database.transaction((manager) => this.tryToUndo(manager, tenantId, id));
      if (merge !== undefined) return merge;
    }
    throw unavailable();
  }

  /** Undefined when somebody else changed the customer while we waited for it. */
  private async tryToUndo(manager: EntityManager, tenantId: string, id: string): Promise<Merge | undefined> {
    const merge = await this.merges.find(tenantId, id, manager);
    if (merge === null) throw noSuchMerge();
    if (merge.undoneAt !== null) return merge;
    const root = await this.locks.rootOf(manager, tenantId, merge.fromEvidenceId);
    if (root === undefined || root.erased) throw noSuchMerge();
    if (!(await this.locks.lockRoot(manager, tenantId, root.id))) return undefined;
    // The merge may have been undone before we got the lock, and its profiles may have got another root.
    const held = await this.merges.find(tenantId, id, manager);
    const heldRoot = await this.locks.rootOf(manager, tenantId, merge.fromEvidenceId);
    if (held?.undoneAt !== null || heldRoot?.id !== root.id) return undefined;
    return this.part(manager, tenantId, held, root.id);
  }

  private async part(
    manager: EntityManager,
    tenantId: string,
    merge: Merge & { readonly fromEvidenceId: string; readonly intoEvidenceId: string },
    rootId: string,
  ): Promise<Merge> {
    const customer = await this.merges.lockedCustomer(manager, tenantId, rootId);
    const others = customer.links.filter(({ id }) => id !== merge.id);
    const split = splitCustomer(customer, merge, others);
    if (split !== undefined) {
      await this.merges.part(manager, tenantId, customer, split);
      await this.merges.keepApart(manager, tenantId, merge, split);
    }
    const undoneAt = this.clock.now();
    await this.merges.markUndone(manager, tenantId, merge.id, undoneAt);
    return { ...merge, undoneAt };
  }
}

function noSuchMerge(): DomainError {
  return new DomainError('not_found', 'There is no merge with this id in this workspace.');
}
