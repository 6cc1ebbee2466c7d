import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../ingest/domain/event-limits';
import { URL_CHARACTERS_MAX } from '../../platform/net/public-address';
import {
  DESCRIPTION_CHARACTERS_MAX,
  DISABLED_REASONS,
  RULES_PER_ENDPOINT_MAX,
  WEBHOOK_ALGORITHMS,
  type DisabledReason,
  type StoredRule,
  type WebhookAlgorithm,
} from '../domain/webhook';
import type { WebhookEndpoint } from '../entities/webhook-endpoint.entity';

const CONDITION = {
  type: 'object',
  additionalProperties: true,
  example: { '>=': [{ var: 'event.properties.amount' }, 20] },
} as const;
const EVENTS = [{ eventType: 'purchase' }];

/** Which events an endpoint gets. */
export class WebhookRuleDto {
  /**
   * Events of this type; of the external-events family, their `type`.
   * @example "purchase"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  eventType!: string;

  /** Only events of this source; any when absent. */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(SOURCE_CHARACTERS_MAX)
  @ApiPropertyOptional({ example: 'shop.orders' })
  source?: string;

  /** Only events for which this is truthy: a rule in JsonLogic over `event`, as reactions have it. */
  @IsOptional()
  @IsObject()
  @ApiPropertyOptional(CONDITION)
  when?: Record<string, unknown>;
}

export class CreateWebhookDto {
  /**
   * Where calls go: an https URL of a public host.
   * @example "https://hooks.example.com/campaigns"
   */
  @IsString()
  @MaxLength(URL_CHARACTERS_MAX)
  url!: string;

  /** Events that fit any of these rules are sent, once each. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(RULES_PER_ENDPOINT_MAX)
  @ValidateNested({ each: true })
  @Type(() => WebhookRuleDto)
  @ApiProperty({ type: [WebhookRuleDto], example: EVENTS })
  events!: WebhookRuleDto[];

  /**
   * What the endpoint is for, in your words.
   * @example "loyalty service"
   */
  @IsOptional()
  @IsString()
  @MaxLength(DESCRIPTION_CHARACTERS_MAX)
  description?: string;

  /** True sends identity and personal properties as they are; requires the scope `pii:read`. */
  @IsOptional()
  @IsBoolean()
  unmask?: boolean;

  /** What calls are signed with; `hmac-sha256` when absent. */
  @IsOptional()
  @IsIn(WEBHOOK_ALGORITHMS)
  @ApiPropertyOptional({ enum: WEBHOOK_ALGORITHMS, enumName: 'WebhookAlgorithm', default: 'hmac-sha256' })
  algorithm?: WebhookAlgorithm;
}

/** An absent field stays as it is. */
export class ChangeWebhookDto {
  /**
   * Where calls go from now on, also those that wait.
   * @example "https://hooks.example.com/campaigns"
   */
  @IsOptional()
  @IsString()
  @MaxLength(URL_CHARACTERS_MAX)
  url?: string;

  /** Replaces all rules. A new rule is for events that are received from now on. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(RULES_PER_ENDPOINT_MAX)
  @ValidateNested({ each: true })
  @Type(() => WebhookRuleDto)
  @ApiPropertyOptional({ type: [WebhookRuleDto], example: EVENTS })
  events?: WebhookRuleDto[];

  /** Empty removes it. */
  @IsOptional()
  @IsString()
  @MaxLength(DESCRIPTION_CHARACTERS_MAX)
  description?: string;

  /** True requires the scope `pii:read`. */
  @IsOptional()
  @IsBoolean()
  unmask?: boolean;
}

/** An endpoint without its secret. */
export class WebhookDto {
  id!: string;

  /** @example "https://hooks.example.com/campaigns" */
  url!: string;

  @ApiProperty({ type: [WebhookRuleDto], example: EVENTS })
  events!: WebhookRuleDto[];

  /** @example "loyalty service" */
  description!: string | null;

  unmask!: boolean;

  @ApiProperty({ enum: WEBHOOK_ALGORITHMS, enumName: 'WebhookAlgorithm' })
  algorithm!: WebhookAlgorithm;

  /** While it is disabled, deliveries are kept and nothing is sent. */
  enabled!: boolean;

  /** `gone`: it answered 410. `failing`: every attempt failed for five days. */
  @ApiProperty({ enum: DISABLED_REASONS, nullable: true })
  disabledReason!: DisabledReason | null;

  disabledAt!: Date | null;

  /** Since when every attempt has failed. */
  failingSince!: Date | null;

  /** Until then the secret before the last rotation signs, too. */
  previousSecretUntil!: Date | null;

  createdAt!: Date;

  /** The id of the credential that created it. */
  createdBy!: string;

  updatedAt!: Date;

  static of(endpoint: WebhookEndpoint, rules: readonly StoredRule[]): WebhookDto {
    const { id, url, description, unmask, algorithm, enabled, disabledReason, disabledAt, failingSince } = endpoint;
    const { previousSecretUntil, createdAt, createdBy, updatedAt } = endpoint;
    return {
      id,
      url,
      events: rules.map(({ eventType, source, condition }) => ({
        eventType,
        ...(source === null ? {} : { source }),
        ...(condition === null ? {} : { when: { ...condition } }),
      })),
      ...{ description, unmask, algorithm, enabled, disabledReason, disabledAt, failingSince, previousSecretUntil },
      ...{ createdAt, createdBy, updatedAt },
    };
  }
}

export class WebhookPageDto {
  items!: WebhookDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}

/** The only answer that holds a secret. */
export class IssuedWebhookDto {
  webhook!: WebhookDto;

  /**
   * Verifies signatures, shown here and never again: `whsec_`, or with `ed25519` the public key, `whpk_`.
   * @example "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDVqAgZ/3dO+s="
   */
  secret!: string;
}
