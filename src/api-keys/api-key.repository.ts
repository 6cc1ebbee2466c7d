import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not, type EntityManager } from 'typeorm';
import { storeLastUse } from '../platform/auth/last-use';
import { newId } from '../platform/values/ids';
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

  /** Gives a key that nobody else changes until the caller's transaction ends. */
  hold(manager: EntityManager, tenantId: string, id: string): Promise<ApiKey | null> {
    return manager.findOne(ApiKey, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Takes a key out of use, with the line of its audit, in the caller's transaction, which holds the key. */
  async revoke(manager: EntityManager, tenantId: string, id: string, at: Date, actor: Actor): Promise<void> {
    await manager.update(ApiKey, { tenantId, id }, { revokedAt: at });
    await this.audit(manager, tenantId, id, 'revoked', at, actor);
  }

  /** Takes a key out of use because another one replaces it; otherwise like `revoke`. */
  async replace(
    manager: EntityManager,
    tenantId: string,
    id: string,
    successor: { readonly id: string; readonly createdAt: Date },
    actor: Actor,
  ): Promise<void> {
    await manager.update(ApiKey, { tenantId, id }, { revokedAt: successor.createdAt, rotatedTo: successor.id });
    await this.audit(manager, tenantId, id, 'rotated', successor.createdAt, actor);
  }

  /** Stores that a key was used (see `WriteLastUse`). */
  storeUse(tenantId: string, id: string, at: Date): Promise<void> {
    return storeLastUse(this.database, 'api_keys', tenantId, id, at);
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
    for (const { id } of old) await this.revoke(manager, tenantId, id, at, actor);
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
