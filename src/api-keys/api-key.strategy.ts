import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-http-bearer';
import { API_KEY_STRATEGY } from '../platform/auth/auth-metadata';
import { credentialRefused } from '../platform/errors/challenges';
import { CredentialVerifier } from '../platform/auth/credential-verifier';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { ApiKeyRepository, apiKeyHash } from './api-key.repository';
import { apiKeyState } from './domain/api-key-lifetime';
import { hasWrongChecksum } from './domain/api-key-token';
import { LastUse } from '../platform/auth/last-use';

/** Keeps `lastUsedAt` of API keys. */
@Injectable()
export class ApiKeyUse extends LastUse {
  constructor(clock: Clock, keys: ApiKeyRepository) {
    super(clock, (tenantId, id, at) => keys.storeUse(tenantId, id, at));
  }
}

/** Verifies an API key against its table: known, not revoked, not expired. */
@Injectable()
export class ApiKeyStrategy extends PassportStrategy(Strategy, API_KEY_STRATEGY) {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly use: ApiKeyUse,
    private readonly clock: Clock,
    verifier: CredentialVerifier,
  ) {
    super();
    verifier.use(API_KEY_STRATEGY, this);
  }

  /** Passes the headers only: the library would also take `access_token` from the query and the body. */
  override authenticate(request: Request): void {
    super.authenticate({ headers: request.headers } as Request);
  }

  async validate(key: string): Promise<Principal> {
    if (hasWrongChecksum(key)) {
      throw credentialRefused('invalid_api_key', 'The API key has a typo: its checksum is wrong.');
    }
    const keyHash = apiKeyHash(key);
    const found = await this.keys.findByHash(keyHash);
    if (found === null || !timingSafeEqual(found.keyHash, keyHash)) {
      throw credentialRefused('invalid_api_key', 'The API key is not known.');
    }
    const state = apiKeyState(found, this.clock.now());
    if (state === 'REVOKED') {
      throw credentialRefused('api_key_revoked', 'The API key was revoked; use the one that replaced it.');
    }
    if (state === 'EXPIRED') {
      throw credentialRefused('api_key_expired', 'The API key has expired; rotate it or create a new one.');
    }
    this.use.note(found);
    return {
      tenantId: found.tenantId,
      credentialId: found.id,
      scopes: new Set(found.scopes),
      sources: found.sources === null ? null : new Set(found.sources),
      expiresAt: found.expiresAt?.getTime() ?? null,
    };
  }
}
