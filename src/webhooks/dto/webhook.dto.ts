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
  Matches,
  MaxLength,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { VariableAddressDto } from '../../variables/dto/variable.dto';
import { PATH_NAME } from '../../platform/values/text/path-name';
import { EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from '../../ingest/domain/event';
import { URL_CHARACTERS_MAX } from '../../platform/net/public-address';
import {
  DESCRIPTION_CHARACTERS_MAX,
  DISABLED_REASONS,
  RULES_PER_ENDPOINT_MAX,
  WEBHOOK_ALGORITHMS,
  isChangeRule,
  type DisabledReason,
  type StoredRule,
  type WebhookAlgorithm,
  type WebhookRule,
} from '../domain/webhook';
import type { WebhookEndpoint } from '../entities/webhook-endpoint.entity';

const CONDITION = {
  type: 'object',
  additionalProperties: true,
  example: { '>=': [{ var: 'event.properties.amount' }, 20] },
} as const;
const EVENTS = [{ eventType: 'purchase' }, { change: { scope: 'user', name: 'points' } }];

/** The variable whose changes are sent. It need not be declared yet. */
export class WebhookChangeDto extends VariableAddressDto {
  /** Only in this campaign; in any when absent. Not for the scope `app`, whose values belong to no campaign. */
  @IsOptional()
  @IsString()
  @Matches(PATH_NAME)
  @ApiPropertyOptional({ example: 'spring' })
  campaignId?: string;
}

/** What an endpoint gets: events of a type, or the changes of a variable. */
export class WebhookRuleDto {
  /** Events of this type; of the external-events family, their `type`. There is no wildcard: write an entry for each type. */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  @ApiPropertyOptional({ example: 'purchase' })
  eventType?: string;

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

  /** Instead of the other fields: changes of a variable. Requires the scope `state:read`, which shows them. */
  @IsOptional()
  @ValidateNested()
  @Type(() => WebhookChangeDto)
  change?: WebhookChangeDto;
}

export class CreateWebhookDto {
  /**
   * Where calls go: an https URL of a public host.
   * @example "https://hooks.example.com/campaigns"
   */
  @IsString()
  @MaxLength(URL_CHARACTERS_MAX)
  url!: string;

  /** Events and changes that fit any of these rules are sent, once each. */
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

  /** True sends identity, participants and personal properties as they are; requires the scope `pii:read`. */
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

  /** Replaces all rules. A new rule is for events that are received, and changes that are made, from now on. */
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

  /** Until then the secret before the last rotation signs, too; the one before it until its own 24 hours are over. */
  previousSecretUntil!: Date | null;

  createdAt!: Date;

  /** The id of the credential that created it, `oidc:` and the subject of a person, or a name such as `command line`. */
  createdBy!: string;

  updatedAt!: Date;

  static of(endpoint: WebhookEndpoint, rules: readonly StoredRule[]): WebhookDto {
    const { id, url, description, unmask, algorithm, enabled, disabledReason, disabledAt, failingSince } = endpoint;
    const { previousSecretUntil, createdAt, createdBy, updatedAt } = endpoint;
    return {
      id,
      url,
      events: rules.map(viewOfRule),
      description,
      unmask,
      algorithm,
      enabled,
      disabledReason,
      disabledAt,
      failingSince,
      previousSecretUntil,
      createdAt,
      createdBy,
      updatedAt,
    };
  }
}

function viewOfRule(rule: StoredRule): WebhookRuleDto {
  if (isChangeRule(rule)) {
    const { scope, name, campaignId } = rule.change;
    return { change: { scope, name, ...(campaignId === null ? {} : { campaignId }) } };
  }
  const { eventType, source, condition } = rule;
  return {
    eventType,
    ...(source === null ? {} : { source }),
    ...(condition === null ? {} : { when: { ...condition } }),
  };
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

/** The rule of a checked body. */
export function webhookRule({ eventType = '', source, when, change }: WebhookRuleDto): WebhookRule {
  if (change !== undefined) {
    const { scope, name, campaignId } = change;
    return { change: { scope, name, campaignId: campaignId ?? null } };
  }
  return { eventType, source: source ?? null, condition: when ?? null };
}
