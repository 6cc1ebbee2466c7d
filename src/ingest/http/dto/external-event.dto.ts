import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsArray, IsObject, IsOptional, IsString, MaxLength, MinLength, ValidateNested } from 'class-validator';
import {
  EVENT_ID_CHARACTERS_MAX,
  EVENT_TYPE_CHARACTERS_MAX,
  IDENTITY_CHARACTERS_MAX,
  SOURCE_CHARACTERS_MAX,
  TIMESTAMP_CHARACTERS_MAX,
} from '../../domain/event';

/** Whose event it is. */
export class IdentityReferenceDto {
  /**
   * The kind of identifier, in any case: EXTERNAL (or external_user_id), EMAIL, PHONE, DEVICE (or device_key).
   * @example "EMAIL"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  type!: string;

  /**
   * The identifier.
   * @example "jane@example.com"
   */
  @IsString()
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  value!: string;
}

/** An event of the external-events family. */
export class ExternalEventDto {
  /**
   * The system that the event comes from.
   * @example "shop.orders"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(SOURCE_CHARACTERS_MAX)
  source!: string;

  /**
   * The source's own id of the fact; the same in every repetition.
   * @example "order-4711"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(EVENT_ID_CHARACTERS_MAX)
  external_event_id!: string;

  /**
   * What happened, in the sender's words.
   * @example "purchase"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  type!: string;

  /**
   * When it happened: ISO 8601 with an offset or Z; absent: when it is received.
   * @example "2026-01-02T03:04:05Z"
   */
  @IsOptional()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  occurred_at?: string;

  @ValidateNested()
  @Type(() => IdentityReferenceDto)
  identity!: IdentityReferenceDto;

  /**
   * Anything more that campaigns need: JSON of at most 8 levels and 300 keys. The top of this document limits its bytes.
   * @example { "amount": 29.33, "currency": "USD" }
   */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  attributes?: Record<string, unknown>;
}

/** Events to be taken one by one; a bad one costs no other its place. */
export class ExternalEventBatchDto {
  /** One event or more; the top of this document says how many at most. */
  @IsArray()
  @ApiProperty({ type: [ExternalEventDto], minItems: 1 })
  items!: unknown[];
}
