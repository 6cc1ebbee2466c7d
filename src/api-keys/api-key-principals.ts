import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LastUse } from '../platform/auth/last-use';
import type { Principal } from '../platform/auth/principal';
import { credentialRefused } from '../platform/errors/challenges';
import { Clock } from '../platform/values/clock';
import { ApiKeyRepository, apiKeyHash } from './api-key.repository';
import { apiKeyState } from './domain/api-key-lifetime';
import { hasWrongChecksum } from './domain/api-key-token';
import type { ApiKey } from './entities/api-key.entity';

/** Keeps `lastUsedAt` of API keys. */
@Injectable()
export class ApiKeyUse extends LastUse {
  constructor(clock: Clock, keys: ApiKeyRepository) {
    super(clock, (tenantId, id, at) => keys.storeUse(tenantId, id, at));
  }
}

/** A caller with the name of its key. */
export interface NamedPrincipal {
  readonly name: string;
  readonly principal: Principal;
}

/** Who calls with an API key, read from its table: known, not revoked, not expired. */
@Injectable()
export class ApiKeyPrincipals {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly use: ApiKeyUse,
    private readonly clock: Clock,
  ) {}

  /** By the plaintext of the key. Throws `invalid_api_key`, `api_key_revoked` and `api_key_expired`. */
  async ofKey(key: string): Promise<NamedPrincipal> {
    if (hasWrongChecksum(key)) {
      throw credentialRefused('invalid_api_key', 'The API key has a typo: its checksum is wrong.');
    }
    const keyHash = apiKeyHash(key);
    const found = await this.keys.findByHash(keyHash);
    if (found === null || !timingSafeEqual(found.keyHash, keyHash)) throw unknownKey();
    return this.inForce(found);
  }

  /** By the id of a key that was verified before. Throws what `ofKey` throws. */
  async ofId(tenantId: string, id: string): Promise<NamedPrincipal> {
    const found = await this.keys.find(tenantId, id);
    if (found === null) throw unknownKey();
    return this.inForce(found);
  }

  private inForce(found: ApiKey): NamedPrincipal {
    const state = apiKeyState(found, this.clock.now());
    if (state === 'REVOKED') {
      throw credentialRefused('api_key_revoked', 'The API key was revoked; use the one that replaced it.');
    }
    if (state === 'EXPIRED') {
      throw credentialRefused('api_key_expired', 'The API key has expired; rotate it or create a new one.');
    }
    this.use.note(found);
    const principal = {
      tenantId: found.tenantId,
      credentialId: found.id,
      scopes: new Set(found.scopes),
      sources: found.sources === null ? null : new Set(found.sources),
      expiresAt: found.expiresAt?.getTime() ?? null,
    };
    return { name: found.name, principal };
  }
}

function unknownKey(): Error {
  return credentialRefused('invalid_api_key', 'The API key is not known.');
}
