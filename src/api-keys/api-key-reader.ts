import { Injectable } from '@nestjs/common';
import { DataSource, In, LessThan, type SelectQueryBuilder } from 'typeorm';
import { isUuid } from '../platform/values/uuid';
import { cursorAfterId, idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { noSuchApiKey } from './api-key-refusals';
import type { ApiKeyState } from './domain/api-key-lifetime';
import { ApiKeyAudit } from './entities/api-key-audit.entity';
import { ApiKey } from './entities/api-key.entity';

/** A key may list a hundred sources of 128 characters. */
const LISTED_KEYS: LargeRows = {
  table: 'api_keys',
  scope: ['tenant_id'],
  id: 'id',
  idType: 'uuid',
  bytes: '1024 + octet_length(r.name) + octet_length(r.scopes::text) + coalesce(octet_length(r.sources::text), 0)',
};

/** Reads keys and their audit trail. */
@Injectable()
export class ApiKeyReader {
  constructor(private readonly database: DataSource) {}

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ApiKey> {
    const key = isUuid(id) ? await this.database.manager.findOneBy(ApiKey, { tenantId, id }) : null;
    if (key === null) throw noSuchApiKey();
    return key;
  }

  /** One page below the id `start`, newest first, of the keys that have this state at `now`. */
  async list(
    tenantId: string,
    { state, now }: { readonly state: ApiKeyState | undefined; readonly now: Date },
    start: string,
    limit: number,
  ): Promise<Page<ApiKey>> {
    const query = this.database.manager
      .createQueryBuilder(ApiKey, 'key')
      .select(['key.tenantId', 'key.id'])
      .where('key.tenantId = :tenantId AND key.id < :start', { tenantId, start })
      .orderBy('key.id', 'DESC')
      // One more than the page shows whether there is a next page.
      .limit(limit + 1);
    if (state !== undefined) inState(query, state, now);
    const page = await pageThatFits(this.database, LISTED_KEYS, [tenantId], {
      found: await query.getMany(),
      limit,
      nameOf: ({ id }: ApiKey) => id,
      cursorAfter: ({ id }) => cursorAfterId(id),
    });
    const where = { tenantId, id: In(page.rows.map(({ id }) => id)) };
    return { ...page, rows: await this.database.manager.find(ApiKey, { where, order: { id: 'DESC' } }) };
  }

  /** One page of what was done to a key, newest first. Throws `not_found`. */
  async audit(tenantId: string, keyId: string, start: string, limit: number): Promise<Page<ApiKeyAudit>> {
    await this.get(tenantId, keyId);
    const where = { tenantId, keyId, id: LessThan(start) };
    const found = await this.database.manager.find(ApiKeyAudit, { where, order: { id: 'DESC' }, take: limit + 1 });
    return idPage(found, limit);
  }
}

/** `apiKeyState` as an SQL condition, so that a page of one state is full. */
function inState(query: SelectQueryBuilder<ApiKey>, state: ApiKeyState, now: Date): void {
  query.andWhere(`key.revokedAt IS ${state === 'REVOKED' ? 'NOT NULL' : 'NULL'}`);
  if (state === 'ACTIVE') query.andWhere('(key.expiresAt IS NULL OR key.expiresAt > :now)', { now });
  if (state === 'EXPIRED') query.andWhere('key.expiresAt <= :now', { now });
}
