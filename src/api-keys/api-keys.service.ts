import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { InvalidationFeed } from '../platform/invalidation/invalidation-feed';
import { validationFailed } from '../platform/errors/validation-failed';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { apiKeyIsRevoked, assertMayGrant, noSuchApiKey, type Grant } from './api-key-refusals';
import { ApiKeyRepository, apiKeyHash, type Actor } from './api-key.repository';
import { earlierOf, expiryOf, expiryOfCaller, renewedExpiry, type LifetimeRequest } from './domain/api-key-lifetime';
import { hintOf, makeApiKey } from './domain/api-key-token';
import type { ApiKey } from './entities/api-key.entity';

export interface ApiKeyRequest extends LifetimeRequest, Grant {
  readonly name: string;
}

/** A key's record with its plaintext, which is in this answer only. */
export interface IssuedApiKey {
  readonly apiKey: ApiKey;
  readonly key: string;
}

/** Issues, rotates and revokes the keys that backends call with (contract section 2). */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: DataSource,
    private readonly keys: ApiKeyRepository,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {}

  /** Creates a key. Throws `validation_failed`, and `insufficient_scope` or `source_not_allowed` for what the caller lacks. */
  async create(caller: Principal, request: ApiKeyRequest, address: string | null): Promise<IssuedApiKey> {
    const now = this.clock.now();
    const expiry = expiryOf(request, now, expiryOfCaller(caller));
    if ('fault' in expiry) throw validationFailed([expiry.fault]);
    assertMayGrant(caller, request);
    const actor = { by: caller.credentialId, address };
    return this.database.transaction((manager) =>
      this.issue(manager, caller.tenantId, makeApiKey(randomBytes), {
        ...request,
        origin: 'api',
        expiresAt: expiry.at,
        createdAt: now,
        actor,
      }),
    );
  }

  /**
   * Replaces a key by a new one with the same configuration and lifetime. The old key is revoked when this resolves.
   * Unless a caller rotates its own key, the new key expires no later than the caller's (docs/adr/0045). Of any number of
   * concurrent callers exactly one gets a new key. Throws `not_found` and `key_revoked`. Throws `insufficient_scope` or
   * `source_not_allowed` for what the key has and the caller lacks: otherwise api-keys:write would give every scope.
   */
  async rotate(caller: Principal, id: string, address: string | null): Promise<IssuedApiKey> {
    const actor = { by: caller.credentialId, address };
    return this.changing(caller.tenantId, id, async (manager, old) => {
      const { name, scopes, sources } = old;
      const grant = { scopes, sources: sources ?? undefined };
      assertMayGrant(caller, grant);
      if (old.revokedAt !== null) throw apiKeyIsRevoked(old);
      const now = this.clock.now();
      const renewed = renewedExpiry(old, now);
      const expiresAt = old.id === caller.credentialId ? renewed : earlierOf(renewed, expiryOfCaller(caller));
      const issued = await this.issue(manager, old.tenantId, makeApiKey(randomBytes), {
        name,
        ...grant,
        // Also for a bootstrap key: its successor is not the value in the environment.
        origin: 'api',
        createdAt: now,
        expiresAt,
        rotatedFrom: old.id,
        actor,
      });
      await this.keys.replace(manager, old.tenantId, old.id, issued.apiKey, actor);
      await this.announce(manager, old);
      return issued;
    });
  }

  /**
   * Revokes a key at once. It may be any key of the workspace, also the caller's own: revoking grants nothing. Idempotent.
   * Throws `not_found`.
   */
  async revoke(caller: Principal, id: string, address: string | null): Promise<ApiKey> {
    return this.changing(caller.tenantId, id, async (manager, key) => {
      if (key.revokedAt !== null) return key;
      key.revokedAt = this.clock.now();
      await this.keys.revoke(manager, key.tenantId, key.id, key.revokedAt, { by: caller.credentialId, address });
      await this.announce(manager, key);
      return key;
    });
  }

  /** Creates the first key of a new workspace, with all scopes and without expiry. */
  createFirst(manager: EntityManager, tenantId: string, actor: Actor): Promise<IssuedApiKey> {
    return this.issue(manager, tenantId, makeApiKey(randomBytes), this.bootstrapKey('api', actor));
  }

  /**
   * Whether a key from the environment cannot become the workspace's admin key: it belongs to another workspace, has fewer
   * scopes, or expires.
   */
  async isTaken(tenantId: string | undefined, key: string): Promise<boolean> {
    const found = await this.keys.findByHash(apiKeyHash(key));
    if (found === null) return false;
    return found.tenantId !== tenantId || !found.scopes.includes('admin') || found.expiresAt !== null;
  }

  /**
   * Makes the key from the environment the workspace's only bootstrap key, also one that the service has made. Idempotent.
   * Runs in a transaction that holds the lock on the workspace. Returns the ids of the replaced keys. A restart never
   * reactivates a revoked key.
   */
  async bootstrap(manager: EntityManager, tenantId: string, key: string): Promise<readonly string[] | 'revoked'> {
    const actor = { by: 'bootstrap', address: null };
    const found = await this.keys.findByHash(apiKeyHash(key), manager);
    if (found !== null && found.revokedAt !== null) return 'revoked';
    if (found === null) await this.issue(manager, tenantId, key, this.bootstrapKey('bootstrap', actor));
    else if (found.origin === 'api') await this.keys.setBootstrapOrigin(manager, tenantId, found.id);
    const now = this.clock.now();
    const ids = await this.keys.revokeOtherBootstrapKeys(manager, tenantId, apiKeyHash(key), now, actor);
    for (const id of ids) await this.announce(manager, { tenantId, id });
    return ids;
  }

  /** Applies committed revocations on this node at once. */
  forget(tenantId: string, ids: readonly string[]): void {
    for (const id of ids) this.feed.forget({ tenantId, kind: 'api_key', id });
  }

  /** Changes a key under its row lock, and applies the change on this node at once. */
  private async changing<Result>(
    tenantId: string,
    id: string,
    change: (manager: EntityManager, key: ApiKey) => Promise<Result>,
  ): Promise<Result> {
    if (!isUuid(id)) throw noSuchApiKey();
    const [result, changedId] = await this.database.transaction(async (manager): Promise<[Result, string]> => {
      const key = await this.keys.hold(manager, tenantId, id);
      if (key === null) throw noSuchApiKey();
      return [await change(manager, key), key.id];
    });
    // The id as the database writes it: the path may have it in upper case.
    this.forget(tenantId, [changedId]);
    return result;
  }

  /** Applies a change on every node within a second of the commit. */
  private announce(manager: EntityManager, { tenantId, id }: Pick<ApiKey, 'tenantId' | 'id'>): Promise<void> {
    return this.feed.announce(manager, { tenantId, kind: 'api_key', id });
  }

  private bootstrapKey(origin: ApiKey['origin'], actor: Actor): NewKey {
    return { name: 'first admin key', scopes: ['admin'], origin, expiresAt: null, createdAt: this.clock.now(), actor };
  }

  private async issue(manager: EntityManager, tenantId: string, key: string, newKey: NewKey): Promise<IssuedApiKey> {
    const record: Omit<ApiKey, 'tenantId'> = {
      id: newId(),
      name: newKey.name,
      keyHash: apiKeyHash(key),
      hint: hintOf(key),
      scopes: [...new Set(newKey.scopes)],
      sources: newKey.sources === undefined ? null : [...newKey.sources],
      origin: newKey.origin,
      createdAt: newKey.createdAt,
      createdBy: newKey.actor.by,
      expiresAt: newKey.expiresAt,
      lastUsedAt: null,
      revokedAt: null,
      rotatedFrom: newKey.rotatedFrom ?? null,
      rotatedTo: null,
    };
    await this.keys.insert(manager, tenantId, record, newKey.actor);
    return { apiKey: { tenantId, ...record }, key };
  }
}

interface NewKey extends Grant {
  readonly name: string;
  readonly origin: ApiKey['origin'];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly rotatedFrom?: string;
  readonly actor: Actor;
}
