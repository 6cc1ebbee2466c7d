import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from '../domain/service-credential';

/** Far beyond an Ed25519 key, so that a key of another kind is refused for its kind and not for its length. */
const PEM_CHARACTERS_MAX = 8_192;

export class CreateServiceCredentialDto {
  /**
   * What the credential is for, in your words.
   * @example "web shop"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  name!: string;

  /**
   * What requests are signed with: a key pair of your own, or a shared secret.
   * @example "ed25519"
   */
  @IsIn(SIGNATURE_ALGORITHMS)
  algorithm!: SignatureAlgorithm;

  /** The public half of an Ed25519 pair, SPKI in PEM; not for `hmac-sha256`, whose secret the service makes. */
  @IsOptional()
  @IsString()
  @MaxLength(PEM_CHARACTERS_MAX)
  @ApiPropertyOptional({
    example:
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n-----END PUBLIC KEY-----\n',
  })
  publicKey?: string;
}
