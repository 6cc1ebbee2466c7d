import { ApiProperty } from '@nestjs/swagger';
import {
  SERVICE_CREDENTIAL_STATES,
  serviceCredentialState,
  type ServiceCredentialState,
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
} from '../domain/service-credential';
import type { ServiceCredential } from '../entities/service-credential.entity';

/** A service credential without its secret. */
export class ServiceCredentialDto {
  /** The `keyid` of its signatures. */
  id!: string;

  /** @example "web shop" */
  name!: string;

  @ApiProperty({ enum: SIGNATURE_ALGORITHMS, enumName: 'SignatureAlgorithm' })
  algorithm!: SignatureAlgorithm;

  /** SPKI in PEM; null for `hmac-sha256`. */
  publicKey!: string | null;

  @ApiProperty({ enum: SERVICE_CREDENTIAL_STATES, enumName: 'ServiceCredentialState' })
  state!: ServiceCredentialState;

  createdAt!: Date;

  /** The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  /** To the minute. */
  lastUsedAt!: Date | null;

  revokedAt!: Date | null;

  static of(credential: ServiceCredential): ServiceCredentialDto {
    const { id, name, algorithm, publicKey, createdAt, createdBy, lastUsedAt, revokedAt } = credential;
    const state = serviceCredentialState(credential);
    return { id, name, algorithm, publicKey, state, createdAt, createdBy, lastUsedAt, revokedAt };
  }
}

export class ServiceCredentialPageDto {
  items!: ServiceCredentialDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}

/** The only answer that holds a plaintext secret. */
export class IssuedServiceCredentialDto {
  serviceCredential!: ServiceCredentialDto;

  /**
   * With `hmac-sha256`: the secret, shown here and never again. The key of the HMAC is the UTF-8 bytes of this text.
   * @example "hVnq7eJx0cWmB4rYtZ2uKsLd9pQ3oFgA1iXbNvE8RwM"
   */
  secret?: string;

  static of({
    credential,
    secret,
  }: {
    readonly credential: ServiceCredential;
    readonly secret?: string;
  }): IssuedServiceCredentialDto {
    return {
      serviceCredential: ServiceCredentialDto.of(credential),
      ...(secret === undefined ? {} : { secret }),
    };
  }
}
