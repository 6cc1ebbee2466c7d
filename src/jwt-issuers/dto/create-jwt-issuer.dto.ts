import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { NAME_CHARACTERS_MAX, SECRET_BYTES_MAX } from '../domain/issuer-definition';
import { JWT_ALGORITHMS, type JwtAlgorithm } from '../domain/jwt-algorithms';

const CLAIM_CHARACTERS_MAX = 128;
const CAMPAIGNS_MAX = 1_000;
/** A clock with a larger error is broken, and expired tokens would stay valid for as long. */
const CLOCK_TOLERANCE_MAX = 300;

/** The names of the claims that say what a token is for. */
export class IssuerClaimsDto {
  /**
   * The claim that names the campaign; `campaign_id` when absent.
   * @example "https://example.com/campaign"
   */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(CLAIM_CHARACTERS_MAX)
  campaign?: string;

  /**
   * The claim that names the app; `app_id` when absent.
   * @example "azp"
   */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(CLAIM_CHARACTERS_MAX)
  app?: string;
}

/** What tokens of an issuer are checked by: a full definition. */
export class JwtIssuerSettingsDto {
  /**
   * The algorithms of its tokens. Default: RS256, PS256 and ES256; with a `secret` HS256, the only one possible there.
   * @example ["RS256"]
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(JWT_ALGORITHMS.length)
  @ArrayUnique()
  @IsIn(JWT_ALGORITHMS, { each: true })
  algorithms?: JwtAlgorithm[];

  /**
   * Where its keys are published (RFC 7517): an https URL with a public address. A new issuer needs one of `jwksUri`, `jwks` and `secret`.
   * @example "https://login.example.com/.well-known/jwks.json"
   */
  @IsOptional()
  @IsString()
  @MinLength(1)
  jwksUri?: string;

  /**
   * Its public keys (RFC 7517): 1 to 20, at most 64 KiB of JSON. RSA of 2048 to 8192 bits with an odd exponent from 3
   * to 4294967295, or P-256.
   * @example { "keys": [{ "kty": "EC", "crv": "P-256", "kid": "1", "x": "WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis", "y": "y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE" }] }
   */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  jwks?: Record<string, unknown>;

  /** A secret shared with it, for HS256: 32 to 1,024 bytes in UTF-8. Stored encrypted, and never shown. */
  @IsOptional()
  @IsString()
  @MaxLength(SECRET_BYTES_MAX)
  secret?: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => IssuerClaimsDto)
  claims?: IssuerClaimsDto;

  /**
   * The campaign of requests that name none, when the token names none either.
   * @example "spring-sale"
   */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  defaultCampaignId?: string;

  /**
   * The campaigns that tokens without a campaign claim may use; absent: every campaign of the workspace.
   * @example ["spring-sale", "summer-sale"]
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(CAMPAIGNS_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @Matches(PATH_NAME, { each: true })
  allowedCampaignIds?: string[];

  /** How many seconds its clock may be ahead or behind. Default: 5. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(CLOCK_TOLERANCE_MAX)
  clockToleranceSeconds?: number;
}

export class CreateJwtIssuerDto extends JwtIssuerSettingsDto {
  /**
   * The exact `iss` of its tokens. Together with `audience` it names the workspace. Where several workspaces have
   * registered the same pair, requests name theirs in `X-Workspace`; the default is the one that registered the pair first.
   * @example "https://login.example.com/"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_CHARACTERS_MAX)
  issuer!: string;

  /**
   * The `aud` of its tokens, or one of them.
   * @example "campaigns"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_CHARACTERS_MAX)
  audience!: string;
}

const ISSUER_EXAMPLE = { issuer: 'https://login.example.com/', audience: 'campaigns' };

/** One example for each source of keys. */
export const JWT_ISSUER_EXAMPLES = {
  'published keys': { ...ISSUER_EXAMPLE, jwksUri: 'https://login.example.com/.well-known/jwks.json' },
  'its keys themselves': {
    ...ISSUER_EXAMPLE,
    jwks: {
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          kid: '1',
          x: 'WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis',
          y: 'y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE',
        },
      ],
    },
    defaultCampaignId: 'spring-sale',
  },
  'a shared secret': { ...ISSUER_EXAMPLE, secret: 'thirty-two characters, or more of them' },
} as const;

/** Of a change: a new address of keys, and one that leaves the keys as they are. */
export const CHANGED_ISSUER_EXAMPLES = {
  'other keys': { jwksUri: 'https://login.example.com/.well-known/jwks.json', defaultCampaignId: 'spring-sale' },
  'the same keys': { algorithms: ['RS256'], allowedCampaignIds: ['spring-sale'], clockToleranceSeconds: 30 },
} as const;
