import { Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager, type QueryDeepPartialEntity } from 'typeorm';
import { pageOf, type Page } from '../platform/pagination/page';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import { JwtIssuer } from './entities/jwt-issuer.entity';

/** The table of the issuers of participants' tokens. */
@Injectable()
export class JwtIssuerRepository {
  constructor(private readonly database: DataSource) {}

  /** Of any number of concurrent callers with one (issuer, audience), in any workspaces, exactly one gets true. */
  async insert(issuer: JwtIssuer): Promise<boolean> {
    const inserted = await this.database.manager
      .createQueryBuilder()
      .insert()
      .into(JwtIssuer)
      .values(issuer as QueryDeepPartialEntity<JwtIssuer>)
      .orIgnore()
      .returning('id')
      .execute();
    return (inserted.raw as unknown[]).length === 1;
  }

  find(tenantId: string, id: string): Promise<JwtIssuer | null> {
    return this.database.manager.findOneBy(JwtIssuer, { tenantId, id });
  }

  /** One page, newest first. */
  async list(tenantId: string, start: TimeKey, limit: number): Promise<Page<JwtIssuer>> {
    const found = await this.database.manager
      .createQueryBuilder(JwtIssuer, 'issuer')
      .where('issuer.tenantId = :tenantId', { tenantId })
      .andWhere('(issuer.createdAt, issuer.id) < (:at, :id)', start)
      .orderBy({ 'issuer.createdAt': 'DESC', 'issuer.id': 'DESC' })
      // One more than the page shows that there is a next one.
      .limit(limit + 1)
      .getMany();
    return pageOf(found, limit, ({ createdAt: at, id }) => cursorAfter({ at, id }));
  }

  /** Takes the record away and answers what it was; null when there is none, or somebody else was faster. */
  async delete(manager: EntityManager, tenantId: string, id: string): Promise<JwtIssuer | null> {
    const issuer = await manager.findOne(JwtIssuer, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
    if (issuer !== null) await manager.delete(JwtIssuer, { tenantId, id });
    return issuer;
  }

  /** The issuer that tokens name by the pair, before the workspace is known; the pair is unique over all workspaces. */
  findNamed(issuer: string, audience: string): Promise<JwtIssuer | null> {
    return this.database.manager.findOneBy(JwtIssuer, { issuer, audience });
  }

  /** Those of the audiences that are registered together with this issuer, in any workspace. */
  async registeredAudiences(issuer: string, audiences: readonly string[]): Promise<readonly string[]> {
    const found = await this.database.manager.find(JwtIssuer, {
      select: { tenantId: true, id: true, audience: true },
      where: { issuer, audience: In([...audiences]) },
    });
    return found.map(({ audience }) => audience);
  }
}
