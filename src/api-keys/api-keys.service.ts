import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { FORBIDDEN_CHALLENGE, scopeMissing } from '../platform/auth/challenges';
import type { Principal } from '../platform/auth/principal';
import { grants, type Scope } from '../platform/auth/scopes';
import { Clock } from '../platform/clock/clock';
import { ControlFeed } from '../platform/control/control-feed';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import { newId } from '../platform/ids/ids';
import { ApiKeyRepository, apiKeyHash, type Actor } from './api-key.repository';
import { expiryOf, type WantedLifetime } from './domain/api-key-lifetime';
import { hintOf, makeApiKey } from './domain/api-key-token';
import type { ApiKey } from './entities/api-key.entity';

export interface WantedApiKey extends WantedLifetime {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly sources?: readonly string[] | undefined;
}

/** A key's record with its plaintext, which exists only here and in the answer to whoever asked for it. */
export interface IssuedApiKey {
  readonly apiKey: ApiKey;
  readonly key: string;
}

/** Issues the keys that backends call with (contract section 2). */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: DataSource,
    private readonly keys: ApiKeyRepository,
    private readonly feed: ControlFeed,
    private readonly clock: Clock,
  ) {}

  /** Makes a key. Throws `validation_failed`, and `insufficient_scope` or `source_not_allowed` for what the caller lacks. */
  async create(caller: Principal, wanted: WantedApiKey, address: string | null): Promise<IssuedApiKey> {
    const now = this.clock.now();
    const expiry = expiryOf(wanted, now);
    if ('fault' in expiry) {
      throw new DomainError('validation_failed', describeFaults([expiry.fault]), { details: [expiry.fault] });
    }
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
    for (const id of ids) await this.feed.announce(manager, { tenantId, kind: 'api_key', id });
    return ids;
  }

  /** Makes revocations that have been committed count on this node at once. */
  forget(tenantId: string, ids: readonly string[]): void {
    for (const id of ids) this.feed.forget({ tenantId, kind: 'api_key', id });
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
      rotatedFrom: null,
      rotatedTo: null,
    };
    await this.keys.insert(manager, tenantId, record, wanted.actor);
    return { apiKey: { tenantId, ...record }, key };
  }
}

interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly sources?: readonly string[] | undefined;
  readonly origin: ApiKey['origin'];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly actor: Actor;
}

/** A caller can grant only what it has. */
function assertMayGrant(caller: Principal, { scopes, sources }: WantedApiKey): void {
  const lacking = scopes.find((scope) => !grants(caller.scopes, scope));
  if (lacking !== undefined) throw scopeMissing(lacking);
  const allowed = caller.sources;
  if (allowed !== null && (sources === undefined || sources.some((source) => !allowed.has(source)))) {
    throw new DomainError(
      'source_not_allowed',
      'A key can only be given sources that the credential itself may send.',
      {
        headers: FORBIDDEN_CHALLENGE,
      },
    );
  }
}
