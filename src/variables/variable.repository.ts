import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, type EntityManager } from 'typeorm';
import { NO_VERSION } from './domain/declarations';
import type { ValueRules, VariableScope, VariableType } from './domain/variable';
import { AppVariable } from './entities/app-variable.entity';
import { Campaign } from './entities/campaign.entity';
import { Variable } from './entities/variable.entity';

/** The key of a declaration in a workspace. */
export interface VariableKey {
  readonly campaignId: string;
  readonly scope: VariableScope;
  readonly name: string;
}

/** What campaigns that share a variable of an app must agree on. */
export type AppRules = Pick<VariableKey, 'campaignId' | 'name'> & {
  readonly [Rule in keyof ValueRules]: ValueRules[Rule] | null;
};

/** The tables of declared variables. Lock order: first the campaign, then one name of the scope `app`. */
@Injectable()
export class VariableRepository {
  constructor(private readonly database: DataSource) {}

  /** The declarations in force. */
  active(tenantId: string, campaignId: string): Promise<Variable[]> {
    return this.database.manager.find(Variable, { where: { tenantId, campaignId, archivedAt: IsNull() } });
  }

  /** At most `limit` declarations in force after a key, in the order of campaign, scope and name. */
  after(manager: EntityManager, tenantId: string, key: VariableKey, limit: number): Promise<Variable[]> {
    return manager
      .createQueryBuilder(Variable, 'variable')
      .where('variable.tenantId = :tenantId AND variable.archivedAt IS NULL', { tenantId })
      .andWhere('(variable.campaignId, variable.scope, variable.name) > (:campaignId, :scope, :name)', key)
      .orderBy({ 'variable.campaignId': 'ASC', 'variable.scope': 'ASC', 'variable.name': 'ASC' })
      .limit(limit)
      .getMany();
  }

  /** The version of the campaign's declarations; those that are read afterwards are at least as new. */
  async version(tenantId: string, campaignId: string): Promise<string> {
    const campaign = await this.database.manager.findOneBy(Campaign, { tenantId, campaignId });
    return campaign?.version ?? NO_VERSION;
  }

  /** Makes the declarations that nodes remember void for mutations; the campaign must be locked. */
  async raiseVersion(manager: EntityManager, tenantId: string, campaignId: string): Promise<void> {
    await manager.query('UPDATE campaigns SET version = version + 1 WHERE tenant_id = $1 AND campaign_id = $2', [
      tenantId,
      campaignId,
    ]);
  }

  /** Creates the campaign's row unless it exists, and locks it until the transaction ends. */
  async lockCampaign(manager: EntityManager, tenantId: string, campaignId: string, now: Date): Promise<void> {
    if (await this.lockExistingCampaign(manager, tenantId, campaignId)) return;
    const row = { tenantId, campaignId, version: NO_VERSION, createdAt: now };
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

  /** How many are in force in a scope, and how many names it has, archived ones too; exact while the campaign is locked. */
  async count(
    manager: EntityManager,
    tenantId: string,
    { campaignId, scope }: Omit<VariableKey, 'name'>,
  ): Promise<{ readonly inForce: number; readonly names: number }> {
    const [row]: { in_force: number; names: number }[] = await manager.query(
      `SELECT count(*) FILTER (WHERE archived_at IS NULL)::int AS in_force, count(*)::int AS names
       FROM variables WHERE tenant_id = $1 AND campaign_id = $2 AND scope = $3`,
      [tenantId, campaignId, scope],
    );
    return { inForce: row?.in_force ?? 0, names: row?.names ?? 0 };
  }

  /** Inserts or replaces a declaration. */
  async put(manager: EntityManager, variable: Variable): Promise<void> {
    await manager.upsert(Variable, variable, ['tenantId', 'campaignId', 'scope', 'name']);
  }

  /** Forgets what a definition has replaced, unless it was defined again since. */
  async confirm(manager: EntityManager, { tenantId, campaignId, scope, name }: Variable, mark: string): Promise<void> {
    await manager.query(
      `UPDATE variables SET replaced = NULL
       WHERE tenant_id = $1 AND campaign_id = $2 AND scope = $3 AND name = $4 AND replaced ->> 'mark' = $5`,
      [tenantId, campaignId, scope, name, mark],
    );
  }

  /** Removes a declaration. */
  async delete(manager: EntityManager, { tenantId, campaignId, scope, name }: Variable): Promise<void> {
    await manager.delete(Variable, { tenantId, campaignId, scope, name });
  }

  /**
   * A declaration of the same name of the scope `app` that is in force in some other campaign with other limits or another
   * period; `confirmed`: whose limits are confirmed. Null: all other campaigns agree.
   */
  findDisagreeing(
    manager: EntityManager,
    tenantId: string,
    { campaignId, name, min, max, period }: AppRules,
    { confirmed = false } = {},
  ): Promise<Variable | null> {
    const disagreeing = manager
      .createQueryBuilder(Variable, 'variable')
      .where(`variable.tenantId = :tenantId AND variable.scope = 'app' AND variable.name = :name`, { tenantId, name })
      .andWhere('variable.archivedAt IS NULL AND variable.campaignId <> :campaignId', { campaignId })
      .andWhere(
        `(variable.min, variable.max, variable.period) IS DISTINCT FROM
          (CAST(:min AS double precision), CAST(:max AS double precision), CAST(:period AS jsonb))`,
        { min: min ?? null, max: max ?? null, period: period == null ? null : JSON.stringify(period) },
      );
    if (confirmed) disagreeing.andWhere('variable.replaced IS NULL');
    return disagreeing.limit(1).getOne();
  }

  /**
   * Gives a name of the scope `app` its type, unless it has one, and returns the type that it has. Locks the name: of
   * concurrent callers the first one decides, and the others wait for its commit.
   */
  async agreedAppType(
    manager: EntityManager,
    tenantId: string,
    name: string,
    proposed: VariableType,
  ): Promise<VariableType> {
    const row = { tenantId, name, type: proposed };
    await manager.createQueryBuilder().insert().into(AppVariable).values(row).orIgnore().execute();
    const lock = { mode: 'pessimistic_write' } as const;
    return (await manager.findOneOrFail(AppVariable, { where: { tenantId, name }, lock })).type;
  }
}
