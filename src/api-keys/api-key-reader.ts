import { Injectable } from '@nestjs/common';
import { DataSource, LessThan, type SelectQueryBuilder } from 'typeorm';
import { isUuid } from '../platform/ids/uuid';
import { idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { noSuchApiKey } from './api-key-refusals';
import type { ApiKeyState } from './domain/api-key-state';
import { ApiKeyAudit } from './entities/api-key-audit.entity';
import { ApiKey } from './entities/api-key.entity';

/** Finds keys and what was done to them, for people who look after them. No plaintext is known here. */
@Injectable()
export class ApiKeyReader {
  constructor(private readonly database: DataSource) {}

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ApiKey> {
    const key = isUuid(id) ? await this.database.manager.findOneBy(ApiKey, { tenantId, id }) : null;
    if (key === null) throw noSuchApiKey();
    return key;
  }

  /** One page below the id `start`, newest first, of the keys that are in this state at `now`. */
  async list(
    tenantId: string,
    { state, now }: { readonly state: ApiKeyState | undefined; readonly now: Date },
    start: string,
    limit: number,
  ): Promise<Page<ApiKey>> {
    const query = this.database.manager
      .createQueryBuilder(ApiKey, 'key')
      .where('key.tenantId = :tenantId AND key.id < :start', { tenantId, start })
      .orderBy('key.id', 'DESC')
      // One more than the page shows that there is a next one.
      .limit(limit + 1);
    if (state !== undefined) inState(query, state, now);
    return idPage(await query.getMany(), limit);
  }

  /** One page of what was done to a key, newest first. Throws `not_found`. */
  async audit(tenantId: string, keyId: string, start: string, limit: number): Promise<Page<ApiKeyAudit>> {
    await this.get(tenantId, keyId);
    const where = { tenantId, keyId, id: LessThan(start) };
    const found = await this.database.manager.find(ApiKeyAudit, { where, order: { id: 'DESC' }, take: limit + 1 });
    return idPage(found, limit);
  }
}

/** `apiKeyState` as a condition, so that a page of one state is as full as any other. */
function inState(query: SelectQueryBuilder<ApiKey>, state: ApiKeyState, now: Date): void {
  query.andWhere(`key.revokedAt IS ${state === 'REVOKED' ? 'NOT NULL' : 'NULL'}`);
  if (state === 'ACTIVE') query.andWhere('(key.expiresAt IS NULL OR key.expiresAt > :now)', { now });
  if (state === 'EXPIRED') query.andWhere('key.expiresAt <= :now', { now });
}
