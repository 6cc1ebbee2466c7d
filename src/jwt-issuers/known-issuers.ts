import { createSecretKey, type KeyObject } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { credentialRefused } from '../platform/auth/challenges';
import { Clock } from '../platform/clock/clock';
import { ControlFeed, type ControlSubject } from '../platform/control/control-feed';
import { ControlMemory, type Read } from '../platform/control/control-memory';
import { DomainError } from '../platform/errors/domain-error';
import { SecretBox, SecretBoxError } from '../platform/secrets/secret-box';
import { isStorable } from '../platform/text/storable-text';
import { NAME_CHARACTERS_MAX } from './domain/issuer-definition';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { usableKeys, type PublicKey } from './jwks/public-keys';
import { JwtIssuerRepository } from './jwt-issuer.repository';

/** Where the keys of an issuer come from, ready for use. */
export type IssuerKeys =
  { readonly secret: KeyObject } | { readonly inline: readonly PublicKey[] } | { readonly jwksUri: string };

export interface KnownIssuer {
  readonly record: Omit<JwtIssuer, 'secret'>;
  readonly keys: IssuerKeys;
}

/** More than one node sees in a minute; beyond it the least used ones are looked up again. */
const ISSUERS_MAX = 10_000;
/** Nothing the client could mend, and a wrong SECRETS_KEY is not righted in a second. */
const SECRET_RETRY_SECONDS = 30;

/** Finds the issuer that a token names, remembered until any node deletes it. That one is unknown is never remembered. */
@Injectable()
export class KnownIssuers {
  private readonly logger = new Logger(KnownIssuers.name);
  private readonly memory: ControlMemory<KnownIssuer>;

  constructor(
    private readonly issuers: JwtIssuerRepository,
    private readonly secrets: SecretBox,
    feed: ControlFeed,
    clock: Clock,
  ) {
    this.memory = new ControlMemory(feed, clock, ISSUERS_MAX);
  }

  /**
   * The one issuer registered for `issuer` and any of the audiences. Throws `invalid_token` when there is none, and when there
   * are several, since they may be of different workspaces; `unavailable` when its secret cannot be read.
   */
  async find(issuer: string, audiences: readonly string[]): Promise<KnownIssuer> {
    const sought = audiences.filter(canBeRegistered);
    if (!canBeRegistered(issuer) || sought.length === 0) throw unknownIssuer();
    const [audience, ...others] = sought.length === 1 ? sought : await this.issuers.registeredAudiences(issuer, sought);
    if (audience === undefined) throw unknownIssuer();
    if (others.length > 0) {
      throw credentialRefused(
        'invalid_token',
        'The audiences of the token (aud) name several registered issuers, not one.',
      );
    }
    // A JSON pair, so that no two pairs have one key.
    const key = JSON.stringify([issuer, audience]);
    return this.memory.recall(key) ?? this.memory.learn(key, () => this.read(issuer, audience));
  }

  private async read(issuer: string, audience: string): Promise<Read<KnownIssuer>> {
    const found = await this.issuers.findNamed(issuer, audience);
    if (found === null) throw unknownIssuer();
    const { secret, ...record } = found;
    return { value: { record, keys: this.keysOf(record, secret) }, subject: subjectOf(record) };
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
        { retryAfterSeconds: SECRET_RETRY_SECONDS, cause },
      );
    }
  }
}

/** What is announced when an issuer is deleted. */
export function subjectOf({ tenantId, id }: Pick<JwtIssuer, 'tenantId' | 'id'>): ControlSubject {
  return { tenantId, kind: 'jwt_issuer', id };
}

/** What is longer, or PostgreSQL cannot take as text, has never been registered. */
function canBeRegistered(name: string): boolean {
  return name !== '' && name.length <= 2 * NAME_CHARACTERS_MAX && isStorable(name);
}

function unknownIssuer(): DomainError {
  return credentialRefused('invalid_token', 'No issuer is registered for the iss and aud of the token.');
}
