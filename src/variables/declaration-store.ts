import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import type { Variable } from './entities/variable.entity';
import { VariableRepository } from './variable.repository';

/** Changes declarations in transactions, and lets every node know. The campaign must be locked. */
@Injectable()
export class DeclarationStore {
  constructor(
    private readonly database: DataSource,
    private readonly variables: VariableRepository,
    private readonly feed: InvalidationFeed,
  ) {}

  /** Runs `work` in a transaction that may change declarations of these campaigns. */
  async commit<T>(
    tenantId: string,
    campaignIds: readonly string[],
    work: (manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    const result = await this.database.transaction(work);
    for (const campaignId of campaignIds) this.feed.forget(declarationsSubject(tenantId, campaignId));
    return result;
  }

  /** Inserts or replaces a declaration. */
  async put(manager: EntityManager, variable: Variable): Promise<Variable> {
    await this.variables.put(manager, variable);
    await this.announce(manager, variable);
    return variable;
  }

  /** Removes a declaration, as if there had never been one. */
  async delete(manager: EntityManager, variable: Variable): Promise<void> {
    await this.variables.delete(manager, variable);
    await this.announce(manager, variable);
  }

  private async announce(manager: EntityManager, { tenantId, campaignId }: Variable): Promise<void> {
    await this.variables.raiseVersion(manager, tenantId, campaignId);
    await this.feed.announce(manager, declarationsSubject(tenantId, campaignId));
  }
}

/** What nodes hear about when the declarations of a campaign change. */
export function declarationsSubject(tenantId: string, campaignId: string): InvalidationSubject {
  return { tenantId, kind: 'campaign', id: campaignId };
}
