import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, type EntityManager } from 'typeorm';
import { LAST_USE_STEP_SECONDS } from '../platform/auth/last-use';
import { ServiceCredential } from './entities/service-credential.entity';

/** The table of service credentials. Secrets reach it sealed. */
@Injectable()
export class ServiceCredentialRepository {
  constructor(private readonly database: DataSource) {}

  /** Finds the credential that a signature names, before the workspace is known; ids are unique over all workspaces. */
  findByKeyId(id: string): Promise<ServiceCredential | null> {
    return this.database.manager.findOneBy(ServiceCredential, { id });
  }

  find(tenantId: string, id: string, manager = this.database.manager): Promise<ServiceCredential | null> {
    return manager.findOneBy(ServiceCredential, { tenantId, id });
  }

  /** At most `limit` credentials with ids below `start`, newest first. */
  list(tenantId: string, start: string, limit: number): Promise<ServiceCredential[]> {
    return this.database.manager.find(ServiceCredential, {
      where: { tenantId, id: LessThan(start) },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  async insert(tenantId: string, credential: Omit<ServiceCredential, 'tenantId'>): Promise<void> {
    await this.database.manager.insert(ServiceCredential, { ...credential, tenantId });
  }

  /** Takes a credential out of use in the caller's transaction; of any number of callers at a time, one is told true. */
  async revoke(manager: EntityManager, tenantId: string, id: string, at: Date): Promise<boolean> {
    const { affected } = await manager.update(
      ServiceCredential,
      { tenantId, id, revokedAt: IsNull() },
      { revokedAt: at },
    );
    return affected === 1;
  }

  /** Stores that a credential was used (see `WriteLastUse`); the column is in no index, so the row stays in its page. */
  async storeUse(tenantId: string, id: string, at: Date): Promise<void> {
    await this.database.query(
      `UPDATE service_credentials SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2
         AND (last_used_at IS NULL OR last_used_at < $3::timestamptz - make_interval(secs => $4))`,
      [tenantId, id, at, LAST_USE_STEP_SECONDS],
    );
  }
}
