import { ApiProperty } from '@nestjs/swagger';
import { KEY_SOURCES, type KeySource } from '../domain/issuer-definition';
import { JWT_ALGORITHMS, type JwtAlgorithm } from '../domain/jwt-algorithms';
import type { JwtIssuer } from '../entities/jwt-issuer.entity';

/** The names of the claims that say what a token is for. */
export class IssuerClaimNamesDto {
  /** @example "campaign_id" */
  campaign!: string;

  /** @example "app_id" */
  app!: string;
}

/** An issuer of participants' tokens; its secret, if it has one, is never shown. */
export class JwtIssuerDto {
  id!: string;

  /** @example "https://login.example.com/" */
  issuer!: string;

  /** @example "campaigns" */
  audience!: string;

  @ApiProperty({ enum: JWT_ALGORITHMS, enumName: 'JwtAlgorithm', isArray: true })
  algorithms!: JwtAlgorithm[];

  @ApiProperty({ enum: KEY_SOURCES, enumName: 'KeySource' })
  keySource!: KeySource;

  /** @example "https://login.example.com/.well-known/jwks.json" */
  jwksUri!: string | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  jwks!: Record<string, unknown> | null;

  claims!: IssuerClaimNamesDto;

  defaultCampaignId!: string | null;

  /** Null: every campaign of the workspace. */
  allowedCampaignIds!: string[] | null;

  /** @example 5 */
  clockToleranceSeconds!: number;

  createdAt!: Date;

  /** The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  static of(record: JwtIssuer): JwtIssuerDto {
    const { id, issuer, audience, algorithms, jwksUri, jwks, campaignClaim, appClaim } = record;
    const { defaultCampaignId, allowedCampaignIds, clockToleranceSeconds, createdAt, createdBy } = record;
    return {
      id,
      issuer,
      audience,
      algorithms,
      keySource: keySourceOf(record),
      jwksUri,
      jwks,
      claims: { campaign: campaignClaim, app: appClaim },
      defaultCampaignId,
      allowedCampaignIds,
      clockToleranceSeconds,
      createdAt,
      createdBy,
    };
  }
}

export class JwtIssuerPageDto {
  items!: JwtIssuerDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}

function keySourceOf({ jwksUri, jwks }: JwtIssuer): KeySource {
  if (jwksUri !== null) return 'jwksUri';
  return jwks === null ? 'secret' : 'jwks';
}
