import { Injectable } from '@nestjs/common';
import { DataSource, In, MoreThan, type EntityManager, type QueryDeepPartialEntity } from 'typeorm';
import type { Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { cursorAfter, type TimeKey } from '../platform/pagination/time-key';
import { JwtIssuer } from './entities/jwt-issuer.entity';
import type { KeyedRecords } from '../platform/secrets/secrets-key-check';

/** A key set has up to 64 KiB. */
const LISTED_ISSUERS: LargeRows = {
  table: 'jwt_issuers',
  scope: ['tenant_id'],
  id: 'id',
  idType: 'uuid',
  bytes: `4096 + coalesce(octet_length(r.jwks::text), 0) + coalesce(octet_length(r.allowed_campaign_ids::text), 0)`,
};

/** The names of an issuer in a token: `iss`, and one of its `aud`. */
export interface NamedPair {
  readonly issuer: string;
  readonly audience: string;
}

/** The table of the issuers of participants' tokens. */
@Injectable()
export class JwtIssuerRepository {
  constructor(private readonly database: DataSource) {}

  /**
   * The time of a new registration of the pair: now by the database's clock, and later than all existing ones, also when
   * that clock was set back. The caller holds the lock of the pair.
   */
  async nextTime(manager: EntityManager, { issuer, audience }: NamedPair): Promise<Date> {
    const rows: unknown = await manager.query(
      `SELECT GREATEST(date_trunc('milliseconds', clock_timestamp()), max(created_at) + interval '1 millisecond') AS at
       FROM jwt_issuers WHERE issuer = $1 AND audience = $2 AND created_at > '-infinity'`,
      [issuer, audience],
    );
    const [row] = rows as readonly { readonly at: Date }[];
    if (row === undefined) throw new Error('The database did not return its time');
    return row.at;
  }

  /** Of any number of concurrent callers with one (issuer, audience) in a workspace, exactly one gets true. */
  async insert(manager: EntityManager, issuer: JwtIssuer): Promise<boolean> {
    const inserted = await manager
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
      .select(['issuer.tenantId', 'issuer.id', 'issuer.createdAt'])
      .where('issuer.tenantId = :tenantId', { tenantId })
      .andWhere('(issuer.createdAt, issuer.id) < (:at, :id)', start)
      .orderBy({ 'issuer.createdAt': 'DESC', 'issuer.id': 'DESC' })
      // One more than the page shows whether there is a next page.
      .limit(limit + 1)
      .getMany();
    const page = await pageThatFits(this.database, LISTED_ISSUERS, [tenantId], {
      found,
      limit,
      nameOf: ({ id }: JwtIssuer) => id,
      cursorAfter: ({ createdAt: at, id }) => cursorAfter({ at, id }),
    });
    const rows = await this.database.manager.find(JwtIssuer, {
      where: { tenantId, id: In(page.rows.map(({ id }) => id)) },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
    return { ...page, rows };
  }

  /** The record, locked until the caller's transaction ends. */
  hold(manager: EntityManager, tenantId: string, id: string): Promise<JwtIssuer | null> {
    return manager.findOne(JwtIssuer, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Writes all fields but those of the registration itself. The caller holds the record. */
  async change(manager: EntityManager, issuer: JwtIssuer): Promise<void> {
    const { tenantId, id, algorithms, jwksUri, jwks, secret, campaignClaim, appClaim } = issuer;
    const { defaultCampaignId, allowedCampaignIds, clockToleranceSeconds } = issuer;
    const keys = { algorithms, jwksUri, jwks, secret };
    const campaigns = { campaignClaim, appClaim, defaultCampaignId, allowedCampaignIds };
    const changed = { ...keys, ...campaigns, clockToleranceSeconds } as QueryDeepPartialEntity<JwtIssuer>;
    await manager.update(JwtIssuer, { tenantId, id }, changed);
  }

  /** Deletes the record and returns it. Null when there is none, or a concurrent caller has deleted it. */
  async delete(manager: EntityManager, tenantId: string, id: string): Promise<JwtIssuer | null> {
    const issuer = await this.hold(manager, tenantId, id);
    if (issuer !== null) await manager.delete(JwtIssuer, { tenantId, id });
    return issuer;
  }

  /** At most `limit` registrations after an id, by id. */
  after(manager: EntityManager, tenantId: string, id: string, limit: number): Promise<JwtIssuer[]> {
    return manager.find(JwtIssuer, { where: { tenantId, id: MoreThan(id) }, order: { id: 'ASC' }, take: limit });
  }

  /** Locks the records until the transaction ends. */
  async lock(manager: EntityManager, tenantId: string, ids: readonly string[]): Promise<void> {
    const lock = { mode: 'pessimistic_write' } as const;
    await manager.find(JwtIssuer, { where: { tenantId, id: In([...ids]) }, order: { id: 'ASC' }, lock });
  }

  /** The workspace's own registration of the pair. */
  findOwn(tenantId: string, { issuer, audience }: NamedPair): Promise<JwtIssuer | null> {
    return this.database.manager.findOneBy(JwtIssuer, { tenantId, issuer, audience });
  }

  /** The oldest registration of the pair in any workspace. It decides the workspace of a token that names none. */
  findFirst({ issuer, audience }: NamedPair): Promise<JwtIssuer | null> {
    return this.database.manager
      .createQueryBuilder(JwtIssuer, 'issuer')
      .where('issuer.issuer = :issuer AND issuer.audience = :audience', { issuer, audience })
      .andWhere("issuer.createdAt > '-infinity'")
      .orderBy({ 'issuer.createdAt': 'ASC', 'issuer.tenantId': 'ASC' })
      .limit(1)
      .getOne();
  }

  /** The audiences that are registered with this issuer: in the workspace, or in any when it is undefined. */
  async registeredAudiences(
    tenantId: string | undefined,
    issuer: string,
    audiences: readonly string[],
  ): Promise<readonly string[]> {
    const found = this.database.manager
      .createQueryBuilder(JwtIssuer, 'issuer')
      .select('DISTINCT issuer.audience', 'audience')
      .where('issuer.issuer = :issuer AND issuer.audience = ANY(:audiences)', { issuer, audiences })
      .andWhere("issuer.createdAt > '-infinity'");
    if (tenantId !== undefined) found.andWhere('issuer.tenantId = :tenantId', { tenantId });
    return (await found.getRawMany<{ readonly audience: string }>()).map(({ audience }) => audience);
  }
}

/** Encrypted secrets of HS256 issuers, for the check of SECRETS_KEY. */
export const SEALED_ISSUERS: KeyedRecords = {
  loss: 'shared secrets of issuers: their tokens are answered 503 until the issuer is deleted and created again',
  count: {
    name: 'sealed_issuers_count',
    text: 'SELECT count(*)::int AS count FROM jwt_issuers WHERE secret IS NOT NULL',
  },
  sample: {
    name: 'sealed_issuers_sample',
    text: `SELECT tenant_id, id, secret AS sealed FROM jwt_issuers WHERE secret IS NOT NULL ORDER BY created_at DESC LIMIT 20`,
  },
};
