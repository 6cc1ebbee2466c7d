import { hash } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, IsNull, Not, type EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/audit-log';
import { storeLastUse } from '../platform/auth/last-use';
import { newId } from '../platform/values/ids';
import { ApiKeyAudit } from './entities/api-key-audit.entity';
import { ApiKey } from './entities/api-key.entity';

export interface Actor {
  /** The id of the credential that acts, or `bootstrap`. */
  readonly by: string;
  readonly address: string | null;
}

/** The tables of API keys. Keys are stored and found by their hash, never by their plaintext. */
@Injectable()
export class ApiKeyRepository implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly log: AuditLog,
  ) {}

  onModuleInit(): void {
    const columns = { at: 'at', id: 'id', action: 'action', recordId: 'key_id', detail: 'NULL' };
    const ofRecord = { where: 'key_id = record.id' };
    this.log.register({ kind: 'api_key', table: 'api_key_audit', ...columns, ofRecord });
  }

  /** Finds a key by the hash of its plaintext, which is unique over all workspaces. The workspace is not known yet. */
  findByHash(keyHash: Buffer, manager = this.database.manager): Promise<ApiKey | null> {
    return manager.findOneBy(ApiKey, { keyHash });
  }

  find(tenantId: string, id: string): Promise<ApiKey | null> {
    return this.database.manager.findOneBy(ApiKey, { tenantId, id });
  }

  /** Stores a new key and its audit entry in the caller's transaction. */
  async insert(manager: EntityManager, tenantId: string, key: Omit<ApiKey, 'tenantId'>, actor: Actor): Promise<void> {
    await manager.insert(ApiKey, { ...key, tenantId });
    await this.audit(manager, tenantId, key.id, 'created', key.createdAt, actor);
  }

  /** Reads a key and locks it until the caller's transaction ends. */
  hold(manager: EntityManager, tenantId: string, id: string): Promise<ApiKey | null> {
    return manager.findOne(ApiKey, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } });
  }

  /** Revokes a key and writes its audit entry, in the caller's transaction, which holds the key's lock. */
  async revoke(manager: EntityManager, tenantId: string, id: string, at: Date, actor: Actor): Promise<void> {
    await manager.update(ApiKey, { tenantId, id }, { revokedAt: at });
    await this.audit(manager, tenantId, id, 'revoked', at, actor);
  }

  /** Like `revoke`, for a key that another one replaces. */
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

  /** Makes a key a bootstrap key, so that the next value in the environment revokes it. */
  async setBootstrapOrigin(manager: EntityManager, tenantId: string, id: string): Promise<void> {
    await manager.update(ApiKey, { tenantId, id }, { origin: 'bootstrap' });
  }

  /** Revokes all bootstrap keys of a workspace except one. Returns their ids. */
  async revokeOtherBootstrapKeys(
    manager: EntityManager,
    tenantId: string,
    exceptHash: Buffer,
    at: Date,
    actor: Actor,
  ): Promise<string[]> {
    const old = await manager.find(ApiKey, {
      where: { tenantId, origin: 'bootstrap', revokedAt: IsNull(), keyHash: Not(exceptHash) },
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

/** Keys have 190 random bits, so a fast hash protects them as well as a slow one. */
export function apiKeyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
