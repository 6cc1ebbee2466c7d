import { createSecretKey, type KeyObject } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { credentialRefused } from '../platform/errors/challenges';
import { WORKSPACE_HEADER } from '../platform/auth/workspace-header';
import { Clock } from '../platform/values/clock';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { InvalidatingCache, type CacheableRead } from '../platform/invalidation/invalidating-cache';
import { NegativeCache } from '../platform/invalidation/negative-cache';
import { DomainError } from '../platform/errors/domain-error';
import { NIL_UUID } from '../platform/values/uuid';
import { SecretBox, SecretBoxError } from '../platform/secrets/secret-box';
import { PATH_NAME } from '../platform/values/text/path-name';
import { isStorable } from '../platform/values/text/text-rules';
import { WorkspacesService } from '../workspaces/workspaces.service';
import { NAME_CHARACTERS_MAX } from './domain/issuer-definition';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { usableKeys, type PublicKey } from './jwks/public-keys';
import { JwtIssuerRepository, type NamedPair } from './jwt-issuer.repository';

/** Where the keys of an issuer come from, ready for use. */
export type IssuerKeys =
  { readonly secret: KeyObject } | { readonly inline: readonly PublicKey[] } | { readonly jwksUri: string };

export interface KnownIssuer {
  readonly record: Omit<JwtIssuer, 'secret' | 'allowedCampaignIds'> & {
    /** One set for all participants that are remembered: it may have a thousand names. */
    readonly allowedCampaignIds: ReadonlySet<string> | null;
  };
  readonly keys: IssuerKeys;
}

/**
 * Of some 10,000 usual issuers: more than one node sees in a minute. The least recently used ones are evicted. A token need not be
 * signed to have its issuer read, and one issuer may have 64 KiB of keys and a thousand names of campaigns.
 */
const ISSUERS_BYTES_MAX = 64 * 1024 * 1024;
/** Of one without keys of its own and without names of campaigns. */
const ISSUER_BYTES = 4_096;
/** Keys are held as they are stored and ready for use. */
const BYTES_PER_KEY_BYTE = 3;
/** Of the name of a campaign in a set. */
const NAME_BYTES = 128;
/** An operator has to correct SECRETS_KEY first, which takes more than a second. */
const SECRET_RETRY_SECONDS = 30;

/** Finds the issuer that a token names. Caches it until any node deletes it; caches an unknown issuer for less than a second. */
@Injectable()
export class KnownIssuers {
  private readonly logger = new Logger(KnownIssuers.name);
  private readonly memory: InvalidatingCache<KnownIssuer>;

  constructor(
    private readonly issuers: JwtIssuerRepository,
    private readonly workspaces: WorkspacesService,
    private readonly secrets: SecretBox,
    feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.memory = new InvalidatingCache(
      feed,
      clock,
      { bytesMax: ISSUERS_BYTES_MAX, bytesOf },
      new NegativeCache('jwt_issuer', feed, clock),
    );
  }

  /**
   * The issuer that is registered for `issuer` and one of the audiences, in the workspace that the request names; by default
   * in the workspace that registered them first (docs/adr/0043). Throws `invalid_token` when none or several match, and
   * `unavailable` when its secret cannot be decrypted.
   */
  async find(issuer: string, audiences: readonly string[], workspace: string | undefined): Promise<KnownIssuer> {
    const sought = audiences.filter(canBeRegistered);
    const canBeFound = canBeRegistered(issuer) && (workspace === undefined || PATH_NAME.test(workspace));
    if (!canBeFound || sought.length === 0) throw unknownIssuer(workspace);
    const [audience, ...others] = sought.length === 1 ? sought : await this.registered(issuer, sought, workspace);
    if (audience === undefined) throw unknownIssuer(workspace);
    if (others.length > 0) throw severalIssuers();
    // JSON keeps the parts of the key apart.
    const key = JSON.stringify([issuer, audience, workspace]);
    return this.memory.recall(key) ?? this.memory.learn(key, () => this.read({ issuer, audience }, workspace));
  }

  private async registered(
    issuer: string,
    audiences: readonly string[],
    workspace: string | undefined,
  ): Promise<readonly string[]> {
    const tenantId = workspace === undefined ? undefined : await this.tenantNamed(workspace);
    return this.issuers.registeredAudiences(tenantId, issuer, audiences);
  }

  private async read(pair: NamedPair, workspace: string | undefined): Promise<CacheableRead<KnownIssuer>> {
    const found =
      workspace === undefined
        ? await this.issuers.findFirst(pair)
        : await this.issuers.findOwn(await this.tenantNamed(workspace), pair);
    if (found === null) throw unknownIssuer(workspace);
    const { secret, allowedCampaignIds: allowed, ...rest } = found;
    const record = { ...rest, allowedCampaignIds: allowed === null ? null : new Set(allowed) };
    return { value: { record, keys: this.keysOf(record, secret) }, subject: issuerSubject(record) };
  }

  private async tenantNamed(workspace: string): Promise<string> {
    // An id that no workspace has: the look-up takes the same time for unknown names.
    return (await this.workspaces.find(workspace))?.tenantId ?? NIL_UUID;
  }

  private keysOf({ tenantId, id, jwksUri, jwks }: KnownIssuer['record'], secret: Buffer | null): IssuerKeys {
    if (jwksUri !== null) return { jwksUri };
    if (jwks !== null) return { inline: usableKeys(jwks.keys) };
    if (secret === null) throw new Error('A stored JWT issuer has no source of keys');
    return { secret: createSecretKey(this.opened(secret, tenantId, id), 'utf8') };
  }

  private opened(secret: Buffer, tenantId: string, id: string): string {
    try {
      return this.secrets.open(secret, tenantId, id);
    } catch (cause) {
      if (!(cause instanceof SecretBoxError)) throw cause;
      this.logger.error(`Tokens of the JWT issuer ${id} cannot be verified. ${cause.message}`);
      throw new DomainError(
        'unavailable',
        'Tokens of this issuer cannot be verified now. Send the same again after the time in Retry-After.',
        // Without the cause, which would be logged again for each request.
        { retryAfterSeconds: SECRET_RETRY_SECONDS },
      );
    }
  }
}

/** About how much memory an issuer takes. */
function bytesOf({ record: { jwks, allowedCampaignIds } }: KnownIssuer, key: string): number {
  const keyBytes = jwks === null ? 0 : JSON.stringify(jwks).length;
  return ISSUER_BYTES + 2 * key.length + BYTES_PER_KEY_BYTE * keyBytes + NAME_BYTES * (allowedCampaignIds?.size ?? 0);
}

/** The subject that is announced when an issuer is deleted. */
export function issuerSubject({ tenantId, id }: Pick<JwtIssuer, 'tenantId' | 'id'>): InvalidationSubject {
  return { tenantId, kind: 'jwt_issuer', id };
}

/** Longer names, and text that PostgreSQL cannot store, are never registered. */
function canBeRegistered(name: string): boolean {
  return name !== '' && name.length <= 2 * NAME_CHARACTERS_MAX && isStorable(name);
}

/** The same message for an unknown workspace and an unknown issuer. */
function unknownIssuer(workspace: string | undefined): DomainError {
  const where = workspace === undefined ? '' : ` in the workspace that ${WORKSPACE_HEADER} names`;
  return credentialRefused('invalid_token', `No issuer is registered for the iss and aud of the token${where}.`);
}

function severalIssuers(): DomainError {
  return credentialRefused(
    'invalid_token',
    `The audiences of the token (aud) name several registered issuers, not one. Name the workspace in ${WORKSPACE_HEADER}, ` +
      'or have tokens issued for one audience.',
  );
}
