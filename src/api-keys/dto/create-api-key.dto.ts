import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { SCOPES, type Scope } from '../../platform/auth/scopes';
import { API_KEY_DAYS_MAX } from '../domain/api-key-lifetime';

const SOURCES_MAX = 100;

export class CreateApiKeyDto {
  /**
   * What the key is for, in your words.
   * @example "web shop"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  name!: string;

  /**
   * What the key may do; a caller can grant only what it has.
   * @example ["cdp-events:write"]
   */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SCOPES.length)
  @IsIn(SCOPES, { each: true })
  scopes!: Scope[];

  /**
   * The event sources the key may send; absent: all.
   * @example ["shop.orders"]
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SOURCES_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @MinLength(1, { each: true })
  @MaxLength(128, { each: true })
  sources?: string[];

  /**
   * When the key expires: ISO 8601 with an offset, at most 366 days ahead, and no later than the key that creates it. Not
   * together with `expiresInDays`.
   */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  @ApiProperty({ type: 'string', format: 'date-time' })
  expiresAt?: string;

  /**
   * Days until the key expires. It expires no later than the key that creates it. Default, without `expiresAt`: 90, or
   * fewer if the creating key expires earlier.
   * @example 30
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(API_KEY_DAYS_MAX)
  expiresInDays?: number;
}
