import { randomBytes, randomUUID } from 'node:crypto';
import { apiKeyHash } from '../../src/api-keys/api-key.repository';
import { hintOf, makeApiKey } from '../../src/api-keys/domain/api-key-token';
import type { Scope } from '../../src/platform/auth/scopes';
import { newId } from '../../src/platform/values/ids';
import { rowsOf } from './database';

export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly sources?: readonly string[] | null;
  readonly expiresAt?: Date | null;
  readonly revokedAt?: Date | null;
}

/** A workspace that no other test knows, with as many keys as a test asks for. */
export interface Tenant {
  readonly tenantId: string;
  readonly name: string;
  /** May do everything. */
  readonly adminKey: string;
  key(options: KeyOptions): Promise<string>;
}

/** Makes a fresh workspace straight in the database, so that tests of other things do not depend on how it is made. */
export async function aTenant(databaseUrl: string): Promise<Tenant> {
  const tenantId = randomUUID();
  const name = `test-${tenantId}`;
  const insert = 'INSERT INTO workspaces (tenant_id, name, created_at) VALUES ($1, $2, now())';
  await rowsOf(databaseUrl, insert, [tenantId, name]);
  const key = (options: KeyOptions) => insertKey(databaseUrl, tenantId, options);
  return { tenantId, name, adminKey: await key({}), key };
}

async function insertKey(databaseUrl: string, tenantId: string, options: KeyOptions): Promise<string> {
  const { scopes = ['admin'], sources = null, expiresAt = null, revokedAt = null } = options;
  const key = makeApiKey(randomBytes);
  await rowsOf(
    databaseUrl,
    `INSERT INTO api_keys (tenant_id, id, name, key_hash, hint, scopes, sources, origin, created_at, created_by,
         expires_at, revoked_at) VALUES ($1, $2, 'test', $3, $4, $5, $6, 'api', now(), 'test', $7, $8)`,
    [tenantId, newId(), apiKeyHash(key), hintOf(key), scopes, sources, expiresAt, revokedAt],
  );
  return key;
}
