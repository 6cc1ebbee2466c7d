import { ApiProperty } from '@nestjs/swagger';
import { type Scope, SCOPES } from '../../platform/auth/scopes';
import {
  API_KEY_STATES,
  apiKeyState,
  type ApiKeyState,
  API_KEY_ACTIONS,
  type ApiKeyAction,
} from '../domain/api-key-lifetime';
import type { ApiKey } from '../entities/api-key.entity';
import type { ApiKeyAudit } from '../entities/api-key-audit.entity';

/** An API key without its plaintext. */
export class ApiKeyDto {
  id!: string;
  /** @example "web shop" */
  name!: string;

  /**
   * Its first 8 and last 4 characters.
   * @example "cds_4fJ0…jyrI"
   */
  hint!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, enumName: 'Scope' })
  scopes!: Scope[];

  /**
   * Null: every source.
   * @example ["shop.orders"]
   */
  sources!: string[] | null;

  @ApiProperty({ enum: API_KEY_STATES, enumName: 'ApiKeyState' })
  state!: ApiKeyState;

  createdAt!: Date;

  /** The id of the credential that created it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
  createdBy!: string;

  /**
   * Null: never. A key that rotates itself gets its full lifetime again. Rotated by another key, it expires no later than that one.
   * @example "2026-04-02T03:04:05.000Z"
   */
  expiresAt!: Date | null;

  /** To the minute. */
  lastUsedAt!: Date | null;

  revokedAt!: Date | null;

  /** The key that this one replaced. */
  rotatedFrom!: string | null;

  /** The key that replaced this one. */
  rotatedTo!: string | null;

  static of(key: ApiKey, now: Date): ApiKeyDto {
    const { id, name, hint, scopes, sources, createdAt, createdBy, expiresAt } = key;
    const { lastUsedAt, revokedAt, rotatedFrom, rotatedTo } = key;
    const state = apiKeyState(key, now);
    return {
      id,
      name,
      hint,
      scopes,
      sources,
      state,
      createdAt,
      createdBy,
      expiresAt,
      lastUsedAt,
      revokedAt,
      rotatedFrom,
      rotatedTo,
    };
  }
}

export class ApiKeyPageDto {
  items!: ApiKeyDto[];
  nextCursor!: string | null;
}

/** The only answer that holds a plaintext key. */
export class IssuedApiKeyDto {
  apiKey!: ApiKeyDto;

  /**
   * The key itself, shown here and never again.
   * @example "cds_4fJ0t2b9QmZr7XcKpV3sLw8yNeHaUdG12wjyrI"
   */
  key!: string;
  static of({ apiKey, key }: { readonly apiKey: ApiKey; readonly key: string }, now: Date): IssuedApiKeyDto {
    return { apiKey: ApiKeyDto.of(apiKey, now), key };
  }
}

/** An entry in the audit trail of a key. */
export class ApiKeyAuditEntryDto {
  @ApiProperty({ enum: API_KEY_ACTIONS, enumName: 'ApiKeyAction' })
  action!: ApiKeyAction;

  at!: Date;

  /** The id of the credential that did it, `bootstrap`, `command line`, or `oidc:` and the subject of a person. */
  by!: string;

  /** The network address of the caller; null when the service did it at its start. */
  address!: string | null;

  static of({ action, at, by, address }: ApiKeyAudit): ApiKeyAuditEntryDto {
    return { action, at, by, address };
  }
}

export class ApiKeyAuditPageDto {
  items!: ApiKeyAuditEntryDto[];
  nextCursor!: string | null;
}
