import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type EntityManager } from 'typeorm';
import { newId } from '../platform/ids/ids';
import { ApiKeyAudit } from './entities/api-key-audit.entity';
import { ApiKey } from './entities/api-key.entity';

export interface Actor {
  /** The id of the credential that acts, or `bootstrap`. */
  readonly by: string;
  readonly address: string | null;
}

/** The tables of API keys. The plaintext never reaches it: keys come and are found by their hash. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly database: DataSource) {}

  /** Finds a key by its plaintext's hash, before the workspace is known; the hash is unique over all workspaces. */
  findByHash(keyHash: Buffer, manager = this.database.manager): Promise<ApiKey | null> {
    return manager.findOneBy(ApiKey, { keyHash });
  }

  /** Stores a new key and the line of its audit in the caller's transaction. */
  async insert(manager: EntityManager, tenantId: string, key: Omit<ApiKey, 'tenantId'>, actor: Actor): Promise<void> {
    await manager.insert(ApiKey, { ...key, tenantId });
    await this.audit(manager, tenantId, key.id, 'created', key.createdAt, actor);
  }

  /** Revokes the bootstrap keys of a workspace but one; answers their ids. */
  async revokeOtherBootstrapKeys(
    manager: EntityManager,
    tenantId: string,
    keptHash: Buffer,
    at: Date,
    actor: Actor,
  ): Promise<string[]> {
    const old = await manager.find(ApiKey, {
      where: { tenantId, origin: 'bootstrap', revokedAt: IsNull(), keyHash: Not(keptHash) },
      lock: { mode: 'pessimistic_write' },
    });
    for (const { id } of old) {
      await manager.update(ApiKey, { tenantId, id }, { revokedAt: at });
      await this.audit(manager, tenantId, id, 'revoked', at, actor);
    }
    return old.map((key) => key.id);
  }

  private async audit(
    manager: EntityManager,
    tenantId: string,
    keyId: string,
    action: ApiKeyAudit['action'],
    at: Date,
    { by, address }: Actor,
  ): Promise<void> {
    await manager.insert(ApiKeyAudit, { tenantId, keyId, id: newId(), action, at, by, address });
  }
}

/** Keys are random, so a fast hash keeps them as well as a slow one would. */
export function apiKeyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
