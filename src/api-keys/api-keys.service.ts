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
import { earlierOf, expiryOf, renewedExpiry, type LifetimeRequest } from './domain/api-key-lifetime';
import { hintOf, makeApiKey } from './domain/api-key-token';
import type { ApiKey } from './entities/api-key.entity';

export interface ApiKeyRequest extends LifetimeRequest, Grant {
  readonly name: string;
}

/** A key's record with its plaintext, which exists only here and in the answer to whoever asked for it. */
export interface IssuedApiKey {
  readonly apiKey: ApiKey;
  readonly key: string;
}

/** Issues the keys that backends call with, and takes them out of use (contract section 2). */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: DataSource,
    private readonly keys: ApiKeyRepository,
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
  ) {}

  /** Makes a key. Throws `validation_failed`, and `insufficient_scope` or `source_not_allowed` for what the caller lacks. */
  async create(caller: Principal, wanted: ApiKeyRequest, address: string | null): Promise<IssuedApiKey> {
    const now = this.clock.now();
    const expiry = expiryOf(wanted, now, endOf(caller));
    if ('fault' in expiry) throw validationFailed([expiry.fault]);
    assertMayGrant(caller, wanted);
    const actor = { by: caller.credentialId, address };
    return this.database.transaction((manager) =>
      this.issue(manager, caller.tenantId, makeApiKey(randomBytes), {
        ...wanted,
        origin: 'api',
        expiresAt: expiry.at,
        createdAt: now,
        actor,
      }),
    );
  }

  /**
   * Replaces a key by a new one of the same configuration and length of life; the old one is out of use when this resolves.
   * The successor of another key than the caller's own expires no later than the caller's (docs/adr/0045).
   * Of any number of callers who rotate one key at once, exactly one gets a new key. Throws `not_found`, `key_revoked`, and
   * `insufficient_scope` or `source_not_allowed` for what the key has and the caller lacks: otherwise api-keys:write would be
   * a way to whatever any key may do.
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
      const expiresAt = old.id === caller.credentialId ? renewed : earlierOf(renewed, endOf(caller));
      const issued = await this.issue(manager, old.tenantId, makeApiKey(randomBytes), {
        ...{ name, ...grant, createdAt: now, expiresAt, rotatedFrom: old.id, actor },
        // Also of a bootstrap key: what follows it is not the value that the environment names.
        origin: 'api',
      });
      await this.keys.replace(manager, old.tenantId, old.id, issued.apiKey, actor);
      await this.announce(manager, old);
      return issued;
    });
  }

  /**
   * Takes a key out of use at once, whatever it may do and be it the caller's own: nobody gains anything by a key that is
   * refused. A key that is out of use is left as it is. Throws `not_found`.
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

  /** Makes the first key of a new workspace, with all scopes and without an end. */
  createFirst(manager: EntityManager, tenantId: string, actor: Actor): Promise<IssuedApiKey> {
    return this.issue(manager, tenantId, makeApiKey(randomBytes), this.bootstrapKey('api', actor));
  }

  /**
   * Whether a key that the environment names cannot be a workspace's admin key: because it is another workspace's, or one
   * that a caller was given with fewer scopes or for a time.
   */
  async isTaken(tenantId: string | undefined, key: string): Promise<boolean> {
    const found = await this.keys.findByHash(apiKeyHash(key));
    if (found === null) return false;
    return found.tenantId !== tenantId || !found.scopes.includes('admin') || found.expiresAt !== null;
  }

  /**
   * Makes the key that the environment names the workspace's only bootstrap key, idempotently, in a transaction that holds
   * the workspace; answers the ids of the keys it replaced. One that was revoked stays so: whoever revoked it had a reason
   * that a restart does not know.
   */
  async bootstrap(manager: EntityManager, tenantId: string, key: string): Promise<readonly string[] | 'revoked'> {
    const actor = { by: 'bootstrap', address: null };
    const found = await this.keys.findByHash(apiKeyHash(key), manager);
    if (found !== null && found.revokedAt !== null) return 'revoked';
    if (found === null) await this.issue(manager, tenantId, key, this.bootstrapKey('bootstrap', actor));
    const now = this.clock.now();
    const ids = await this.keys.revokeOtherBootstrapKeys(manager, tenantId, apiKeyHash(key), now, actor);
    for (const id of ids) await this.announce(manager, { tenantId, id });
    return ids;
  }

  /** Makes revocations that have been committed count on this node at once. */
  forget(tenantId: string, ids: readonly string[]): void {
    for (const id of ids) this.feed.forget({ tenantId, kind: 'api_key', id });
  }

  /** Changes a key that nobody else changes meanwhile, and makes the change count on this node at once. */
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
    // As the database writes the id: the path may have it in upper case, and nobody would recognise it.
    this.forget(tenantId, [changedId]);
    return result;
  }

  /** Makes a change of a key count on every node within a second of the commit. */
  private announce(manager: EntityManager, { tenantId, id }: Pick<ApiKey, 'tenantId' | 'id'>): Promise<void> {
    return this.feed.announce(manager, { tenantId, kind: 'api_key', id });
  }

  private bootstrapKey(origin: ApiKey['origin'], actor: Actor): NewKey {
    return { name: 'first admin key', scopes: ['admin'], origin, expiresAt: null, createdAt: this.clock.now(), actor };
  }

  private async issue(manager: EntityManager, tenantId: string, key: string, wanted: NewKey): Promise<IssuedApiKey> {
    const record: Omit<ApiKey, 'tenantId'> = {
      id: newId(),
      name: wanted.name,
      keyHash: apiKeyHash(key),
      hint: hintOf(key),
      scopes: [...new Set(wanted.scopes)],
      sources: wanted.sources === undefined ? null : [...wanted.sources],
      origin: wanted.origin,
      createdAt: wanted.createdAt,
      createdBy: wanted.actor.by,
      expiresAt: wanted.expiresAt,
      lastUsedAt: null,
      revokedAt: null,
      rotatedFrom: wanted.rotatedFrom ?? null,
      rotatedTo: null,
    };
    await this.keys.insert(manager, tenantId, record, wanted.actor);
    return { apiKey: { tenantId, ...record }, key };
  }
}

/** When the caller's own key expires; null for never. */
function endOf({ expiresAt }: Principal): Date | null {
  return expiresAt === null ? null : new Date(expiresAt);
}

interface NewKey extends Grant {
  readonly name: string;
  readonly origin: ApiKey['origin'];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly rotatedFrom?: string;
  readonly actor: Actor;
}
