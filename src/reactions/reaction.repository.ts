import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import { cursorAfterId } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { newRulesVersion } from '../processing/rule-cache';
import type { ReactionName } from './domain/reaction';
import { Reaction } from './entities/reaction.entity';

/** A reaction may have a hundred operations with values of 4 KiB. */
const LISTED_REACTIONS: LargeRows = {
  table: 'reactions',
  scope: ['tenant_id', 'campaign_id'],
  id: 'name',
  idType: 'text',
  bytes: '1024 + octet_length(r.operations::text) + coalesce(octet_length(r.condition::text), 0)',
};

/**
 * The table of reactions. Every change locks the workspace's row first, so that counts are exact and no deadlock is
 * possible.
 */
@Injectable()
export class ReactionRepository {
  constructor(private readonly database: DataSource) {}

  /**
   * Changes the version of the workspace's reactions, which invalidates the caches of all nodes. Other changes of
   * the workspace wait until this transaction ends.
   */
  async lockSet(manager: EntityManager, tenantId: string): Promise<void> {
    await manager.query(
      `INSERT INTO reaction_sets (tenant_id, version) VALUES ($1, $2)
       ON CONFLICT ON CONSTRAINT reaction_sets_pkey DO UPDATE SET version = excluded.version`,
      [tenantId, newRulesVersion()],
    );
  }

  find(tenantId: string, campaignId: string, name: string, manager?: EntityManager): Promise<Reaction | null> {
    return (manager ?? this.database.manager).findOneBy(Reaction, { tenantId, campaignId, name });
  }

  /** One page, newest first, below an id. A campaign has few reactions, so the index of the primary key suffices. */
  async list(tenantId: string, campaignId: string, below: string, limit: number): Promise<Page<Reaction>> {
    const found = await this.database.manager.find(Reaction, {
      select: { tenantId: true, campaignId: true, name: true, id: true },
      where: { tenantId, campaignId, id: LessThan(below) },
      order: { id: 'DESC' },
      // One more than the page shows that there is a next one.
      take: limit + 1,
    });
    const page = await pageThatFits(this.database, LISTED_REACTIONS, [tenantId, campaignId], {
      found,
      limit,
      nameOf: ({ name }: Reaction) => name,
      cursorAfter: ({ id }: Reaction) => cursorAfterId(id),
    });
    const names = page.rows.map(({ name }) => name);
    const rows = await this.database.manager.find(Reaction, {
      where: { tenantId, campaignId, name: In(names) },
      order: { id: 'DESC' },
    });
    return { ...page, rows };
  }

  /** At most `limit` reactions after a name, in the order of campaign and name. */
  after(manager: EntityManager | undefined, tenantId: string, name: ReactionName, limit: number): Promise<Reaction[]> {
    return (manager ?? this.database.manager)
      .createQueryBuilder(Reaction, 'reaction')
      .where('reaction.tenantId = :tenantId', { tenantId })
      .andWhere('(reaction.campaignId, reaction.name) > (:campaignId, :name)', name)
      .orderBy({ 'reaction.campaignId': 'ASC', 'reaction.name': 'ASC' })
      .limit(limit)
      .getMany();
  }

  countOfCampaign(manager: EntityManager, tenantId: string, campaignId: string): Promise<number> {
    return manager.countBy(Reaction, { tenantId, campaignId });
  }

  /** Of each campaign that has any; the index of the primary key holds what is counted. */
  async countsOfCampaigns(tenantId: string, campaignIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows: { campaignId: string; count: number }[] = await this.database.query(
      `SELECT campaign_id AS "campaignId", count(*)::integer AS count FROM reactions
       WHERE tenant_id = $1 AND campaign_id = ANY($2::text[]) GROUP BY campaign_id`,
      [tenantId, campaignIds],
    );
    return new Map(rows.map(({ campaignId, count }) => [campaignId, count]));
  }

  countOfEventType(manager: EntityManager, tenantId: string, eventType: string): Promise<number> {
    return manager
      .createQueryBuilder(Reaction, 'reaction')
      .where('reaction.tenantId = :tenantId AND reaction.eventType = :eventType', { tenantId, eventType })
      .andWhere(`reaction.createdAt > '-infinity'`)
      .getCount();
  }

  /** Inserts or replaces a reaction. */
  async put(manager: EntityManager, reaction: Reaction): Promise<void> {
    await manager.upsert(Reaction, reaction as never, ['tenantId', 'campaignId', 'name']);
  }

  /** A backfill of the reaction ends, as it does when its definition changes. */
  async disable(manager: EntityManager, { tenantId, campaignId, name }: Reaction, updatedAt: Date): Promise<void> {
    const changes = { enabled: false, backfillId: null, updatedAt };
    await manager.update(Reaction, { tenantId, campaignId, name }, changes);
  }

  async delete(manager: EntityManager, { tenantId, campaignId, name }: Reaction): Promise<void> {
    await manager.delete(Reaction, { tenantId, campaignId, name });
  }
}
