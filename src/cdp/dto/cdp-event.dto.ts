import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsArray, IsObject, IsOptional, IsString, MaxLength, MinLength, ValidateNested } from 'class-validator';
import {
  EVENT_ID_CHARACTERS_MAX,
  EVENT_TYPE_CHARACTERS_MAX,
  IDENTITY_CHARACTERS_MAX,
  SOURCE_CHARACTERS_MAX,
  TIMESTAMP_CHARACTERS_MAX,
} from '../../ingest/domain/event';

/** Whose event it is; at least one of the four. */
export class CdpIdentityDto {
  /**
   * The customer's id in the upstream system.
   * @example "customer-0001"
   */
  @IsOptional()
  @IsString()
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  externalUserId?: string;

  /** @example "jane@example.com" */
  @IsOptional()
  @IsString()
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  email?: string;

  /** @example "+4915112345678" */
  @IsOptional()
  @IsString()
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  phone?: string;

  /** @example "d3adb33f-device" */
  @IsOptional()
  @IsString()
  @MaxLength(IDENTITY_CHARACTERS_MAX)
  deviceKey?: string;
}

/** An event of the CDP family; its type must be registered. */
export class CdpEventDto {
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
  externalEventId!: string;

  /**
   * A registered event type.
   * @example "purchase"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(EVENT_TYPE_CHARACTERS_MAX)
  eventType!: string;

  /**
   * When it happened: ISO 8601 with an offset or Z; absent: when it is received.
   * @example "2026-01-02T03:04:05Z"
   */
  @IsOptional()
  @IsString()
  @MaxLength(TIMESTAMP_CHARACTERS_MAX)
  occurredAt?: string;

  @ValidateNested()
  @Type(() => CdpIdentityDto)
  identity!: CdpIdentityDto;

  /**
   * What the event type declares: JSON of at most 8 levels and 300 keys. The top of this document limits its bytes.
   * @example { "amount": 29.33, "quantity": 2 }
   */
  @IsOptional()
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: true })
  properties?: Record<string, unknown>;
}

/** Events to be taken one by one; a bad one costs no other its place. */
export class CdpEventBatchDto {
  /** One event or more; the top of this document says how many at most. */
  @IsArray()
  @ApiProperty({ type: [CdpEventDto], minItems: 1 })
  items!: unknown[];
}
