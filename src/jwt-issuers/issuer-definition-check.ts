import { Inject, Injectable, type Type } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { BodyValidators } from '../platform/http/body/body-validators';
import { isObject } from '../platform/values/json/json-values';
import { SecretBox } from '../platform/secrets/secret-box';
import { issuerFaults, keySourcesOf, type IssuerPolicy, type KeySource } from './domain/issuer-definition';
import { CreateJwtIssuerDto, JwtIssuerSettingsDto } from './dto/create-jwt-issuer.dto';
import type { JwtIssuer } from './entities/jwt-issuer.entity';
import { readInlineJwks, type PublicJwks } from './jwks/inline-jwks';
import type { NamedPair } from './jwt-issuer.repository';

/** A valid body beside the pair, with the public members of its keys only. */
export type IssuerSettings = Omit<JwtIssuerSettingsDto, 'jwks'> & {
  readonly jwks: PublicJwks | undefined;
  /** Where the keys come from. A `secret` may be the stored one, which is not among the fields. */
  readonly source: KeySource;
};

/** A valid body of a new issuer. */
type IssuerRequest = IssuerSettings & NamedPair;

/**
 * Checks the body of a new or changed issuer (contract section 2): its shape by the DTO, and the rules between its fields.
 * Reports all faults together.
 */
@Injectable()
export class IssuerDefinitionCheck {
  private readonly policy: IssuerPolicy;

  constructor(
    private readonly validators: BodyValidators,
    secrets: SecretBox,
    @Inject(SETTINGS_TOKEN) { jwksAllowPrivate }: Settings,
  ) {
    this.policy = { allowPrivate: jwksAllowPrivate === 'true', canSeal: secrets.canSeal };
  }

  /** `kept`: the source of keys that is stored and stays. Throws `validation_failed`. */
  check(body: unknown, kept?: KeySource): IssuerRequest {
    const { issuer, audience, ...settings } = this.checked(CreateJwtIssuerDto, body, kept);
    return { issuer, audience, ...settingsOf(settings, kept) };
  }

  /** Checks a change of a stored issuer, with its keys where the body has no source of keys. Throws `validation_failed`. */
  checkChange(body: unknown, stored: StoredKeys): IssuerSettings {
    const keepsKeys = isObject(body) && keySourcesOf(body).length === 0;
    const kept = keepsKeys && stored.secret !== null ? 'secret' : undefined;
    const fields = keepsKeys ? { ...body, ...publicKeysOf(stored) } : body;
    return settingsOf(this.checked(JwtIssuerSettingsDto, fields, kept), kept);
  }

  /** `kept`: the source of keys that is stored and stays. */
  private checked<T extends JwtIssuerSettingsDto>(dto: Type<T>, fields: unknown, kept: KeySource | undefined): T {
    return this.validators.check<T>(dto, fields, (sent) => issuerFaults(sent, this.policy, kept));
  }
}

type StoredKeys = Pick<JwtIssuer, 'jwksUri' | 'jwks' | 'secret'>;

function publicKeysOf({ jwksUri, jwks }: StoredKeys): Partial<StoredKeys> {
  if (jwksUri !== null) return { jwksUri };
  return jwks === null ? {} : { jwks };
}

function settingsOf({ jwks, ...others }: JwtIssuerSettingsDto, kept: KeySource | undefined): IssuerSettings {
  const { jwksUri, secret } = others;
  const [source = kept] = keySourcesOf({ jwksUri, jwks, secret });
  if (source === undefined) throw new Error('An issuer without a source of keys passed the check');
  return { ...others, jwks: publicJwks(jwks), source };
}

function publicJwks(sent: object | undefined): PublicJwks | undefined {
  if (sent === undefined) return undefined;
  const read = readInlineJwks('jwks', sent);
  if ('faults' in read) throw new Error('A key set that passed the check cannot be read');
  return read.jwks;
}
