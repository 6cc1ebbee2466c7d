import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, LessThan, type EntityManager } from 'typeorm';
import { storeLastUse } from '../platform/auth/last-use';
import { ServiceCredential } from './entities/service-credential.entity';
import type { KeyedRecords } from '../platform/secrets/secrets-key-check';

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

  async insert(
    manager: EntityManager,
    tenantId: string,
    credential: Omit<ServiceCredential, 'tenantId'>,
  ): Promise<void> {
    await manager.insert(ServiceCredential, { ...credential, tenantId });
  }

  /** Revokes a credential in the caller's transaction. Returns true to exactly one of any number of concurrent callers. */
  async revoke(manager: EntityManager, tenantId: string, id: string, at: Date): Promise<boolean> {
    const { affected } = await manager.update(
      ServiceCredential,
      { tenantId, id, revokedAt: IsNull() },
      { revokedAt: at },
    );
    return affected === 1;
  }

  /** Stores that a credential was used (see `WriteLastUse`). */
  storeUse(tenantId: string, id: string, at: Date): Promise<void> {
    return storeLastUse(this.database, 'service_credentials', tenantId, id, at);
  }
}

/** Encrypted HMAC secrets, for the check of SECRETS_KEY. */
export const SEALED_CREDENTIALS: KeyedRecords = {
  loss: 'secrets of service credentials (hmac-sha256): requests signed with them are answered 503; make new ones and revoke these',
  count: {
    name: 'sealed_credentials_count',
    text: 'SELECT count(*)::int AS count FROM service_credentials WHERE secret IS NOT NULL AND revoked_at IS NULL',
  },
  sample: {
    name: 'sealed_credentials_sample',
    text: `SELECT tenant_id, id, secret AS sealed FROM service_credentials WHERE secret IS NOT NULL
      ORDER BY created_at DESC LIMIT 20`,
  },
};
