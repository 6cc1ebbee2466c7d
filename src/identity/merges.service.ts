import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { unavailable } from '../platform/errors/unavailable';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/values/uuid';
import { idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { CustomerLocks } from './customer-locks';
import { CustomerSplits } from './customer-splits';
import { splitCustomer, type Merge } from './domain/split-customer';
import { MergeRepository } from './merge.repository';

/** Each failed attempt means that another transaction changed the customer. */
const ATTEMPTS_MAX = 12;

interface UndoneMerge {
  readonly merge: Merge;
  /** The profiles of both sides, if this has split a customer. */
  readonly parted: readonly string[];
}

/** Lists merges and undoes them (contract section 5, docs/adr/0024). */
@Injectable()
export class MergesService {
  constructor(
    private readonly database: DataSource,
    private readonly merges: MergeRepository,
    private readonly locks: CustomerLocks,
    private readonly splits: CustomerSplits,
    private readonly clock: Clock,
  ) {}

  /** One page of the merges of a customer's profiles, newest first. */
  async list(tenantId: string, profileIds: readonly string[], start: string, limit: number): Promise<Page<Merge>> {
    return idPage(await this.merges.list(tenantId, profileIds, start, limit), limit);
  }

  /** The profiles that undone merges have separated from these, without erased ones. */
  separatedFrom(tenantId: string, profileIds: readonly string[]): Promise<string[]> {
    return this.merges.separatedFrom(tenantId, profileIds);
  }

  /**
   * Splits the customers that a merge joined. They never merge automatically again. Returns a merge that is undone
   * already unchanged.
   *
   * Throws `not_found`, also if the customer was erased, and `unavailable`.
   */
  async undo(tenantId: string, id: string): Promise<Merge> {
    if (!isUuid(id)) throw noSuchMerge();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      // One transaction for each attempt: waiting for a second lock while holding the first one can deadlock.
      const undone = await this.database.transaction((manager) => this.tryToUndo(manager, tenantId, id));
      if (undone === undefined) continue;
      if (undone.parted.length > 0) await this.splits.announce({ tenantId, profileIds: undone.parted });
      return undone.merge;
    }
    throw unavailable();
  }

  /** Undefined if another transaction changed the customer while this one waited for the lock. */
  private async tryToUndo(manager: EntityManager, tenantId: string, id: string): Promise<UndoneMerge | undefined> {
    const merge = await this.merges.find(tenantId, id, manager);
    if (merge === null) throw noSuchMerge();
    if (merge.undoneAt !== null) return { merge, parted: [] };
    const root = await this.locks.rootOf(manager, tenantId, merge.fromEvidenceId);
    if (root === undefined || root.erased) throw noSuchMerge();
    if (!(await this.locks.lockRoot(manager, tenantId, root.id))) return undefined;
    // Before this transaction got the lock, the merge may have been undone, or its profiles may have got another root.
    const held = await this.merges.find(tenantId, id, manager);
    const heldRoot = await this.locks.rootOf(manager, tenantId, merge.fromEvidenceId);
    if (held?.undoneAt !== null || heldRoot?.id !== root.id) return undefined;
    return this.splitBy(manager, tenantId, held, root.id);
  }

  private async splitBy(
    manager: EntityManager,
    tenantId: string,
    merge: Merge & { readonly fromEvidenceId: string; readonly intoEvidenceId: string },
    rootId: string,
  ): Promise<UndoneMerge> {
    const customer = await this.merges.lockedCustomer(manager, tenantId, rootId);
    const others = customer.links.filter(({ id }) => id !== merge.id);
    const split = splitCustomer(customer, merge, others);
    if (split !== undefined) {
      await this.merges.split(manager, tenantId, customer, split);
      await this.merges.keepApart(manager, tenantId, merge, split);
    }
    const undoneAt = this.clock.now();
    await this.merges.markUndone(manager, tenantId, merge.id, undoneAt);
    const parted = split === undefined ? [] : [...split.from.profileIds, ...split.into.profileIds];
    return { merge: { ...merge, undoneAt }, parted };
  }
}

function noSuchMerge(): DomainError {
  return new DomainError('not_found', 'There is no merge with this id in this workspace.');
}
