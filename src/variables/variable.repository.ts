import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager } from 'typeorm';
import type { VariableScope, VariableType } from './domain/variable';
import { AppVariable } from './entities/app-variable.entity';
import { Campaign } from './entities/campaign.entity';
import { Variable } from './entities/variable.entity';

/** The key of a declaration in a workspace. */
export interface VariableKey {
  readonly campaignId: string;
  readonly scope: VariableScope;
  readonly name: string;
}

/** The tables of declared variables. Lock order: first the campaign, then one name of the scope `app`. */
@Injectable()
export class VariableRepository {
  constructor(private readonly database: DataSource) {}

  /** The declarations in force. */
  active(tenantId: string, campaignId: string): Promise<Variable[]> {
    return this.database.manager.find(Variable, { where: { tenantId, campaignId, archivedAt: IsNull() } });
  }

  /** Creates the campaign's row unless it exists, and locks it until the transaction ends. */
  async lockCampaign(manager: EntityManager, tenantId: string, campaignId: string, now: Date): Promise<void> {
    if (await this.lockExistingCampaign(manager, tenantId, campaignId)) return;
    const row = { tenantId, campaignId, createdAt: now };
    await manager.createQueryBuilder().insert().into(Campaign).values(row).orIgnore().execute();
    await this.lockExistingCampaign(manager, tenantId, campaignId);
  }

  /** Locks the campaign's row until the transaction ends; false: there is none. */
  async lockExistingCampaign(manager: EntityManager, tenantId: string, campaignId: string): Promise<boolean> {
    const lock = { mode: 'pessimistic_write' } as const;
    return (await manager.findOne(Campaign, { where: { tenantId, campaignId }, lock })) !== null;
  }

  /** In force or archived. */
  find(manager: EntityManager, tenantId: string, { campaignId, scope, name }: VariableKey): Promise<Variable | null> {
    return manager.findOneBy(Variable, { tenantId, campaignId, scope, name });
  }

  /** How many are in force in a scope; exact while the campaign is locked. */
  countActive(
    manager: EntityManager,
    tenantId: string,
    { campaignId, scope }: Omit<VariableKey, 'name'>,
  ): Promise<number> {
    return manager.countBy(Variable, { tenantId, campaignId, scope, archivedAt: IsNull() });
  }

  /** Inserts or replaces a declaration. */
  async put(manager: EntityManager, variable: Variable): Promise<void> {
    await manager.upsert(Variable, variable, ['tenantId', 'campaignId', 'scope', 'name']);
  }

  /**
   * Gives a name of the scope `app` its type, unless it has one, and returns the type that it has. Of concurrent
   * callers the first one decides, and the others wait for its commit.
   */
  async agreedAppType(
    manager: EntityManager,
    tenantId: string,
    name: string,
    proposed: VariableType,
  ): Promise<VariableType> {
    const row = { tenantId, name, type: proposed };
    await manager.createQueryBuilder().insert().into(AppVariable).values(row).orIgnore().execute();
    return (await manager.findOneByOrFail(AppVariable, { tenantId, name })).type;
  }
}
