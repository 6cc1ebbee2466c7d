import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsNumber, IsOptional, IsString, Matches, MaxLength, ValidateNested } from 'class-validator';
import { PERIOD_UNITS, TIME_ZONE_CHARACTERS_MAX, type Period, type PeriodUnit } from '../domain/period';
import { VARIABLE_VALUE } from '../domain/value-type';
import {
  VARIABLE_NAME,
  VARIABLE_SCOPES,
  VARIABLE_TYPES,
  type VariableScope,
  type VariableType,
  type VariableValue,
} from '../domain/variable';
import type { Variable } from '../entities/variable.entity';

const DESCRIPTION_CHARACTERS_MAX = 1_000;

/** Which variable: its address is `state.{scope}.{name}`. */
export class VariableAddressDto {
  /** Whose values it has: each participant's, the campaign's, or those of all campaigns of an app. */
  @IsIn(VARIABLE_SCOPES)
  @ApiProperty({ enum: VARIABLE_SCOPES, enumName: 'VariableScope' })
  scope!: VariableScope;

  /**
   * Unique in its scope; some names are reserved.
   * @example "points"
   */
  @IsString()
  @Matches(VARIABLE_NAME)
  name!: string;
}

/** Each value belongs to one period; in the next one the variable starts again from its default. */
export class PeriodDto implements Period {
  /** Weeks begin on Monday. */
  @IsIn(PERIOD_UNITS)
  @ApiProperty({ enum: PERIOD_UNITS, enumName: 'PeriodUnit' })
  every!: PeriodUnit;

  /**
   * Where the day begins: a name of the IANA time zone database.
   * @example "Europe/Berlin"
   */
  @IsString()
  @MaxLength(TIME_ZONE_CHARACTERS_MAX)
  timezone!: string;
}

/** A full declaration: a field that is absent is removed. */
export class DefineVariableDto extends VariableAddressDto {
  /** Stays for good. */
  @IsIn(VARIABLE_TYPES)
  @ApiProperty({ enum: VARIABLE_TYPES, enumName: 'VariableType' })
  type!: VariableType;

  /**
   * Shown while no value is set: of the variable's type, a string of at most 4,096 bytes in UTF-8, a number that can be
   * kept exactly.
   * @example 0
   */
  @IsOptional()
  @ApiProperty(VARIABLE_VALUE)
  default?: VariableValue;

  /**
   * The least value, for numbers only. A mutation that would lead below it is refused.
   * @example 0
   */
  @IsOptional()
  @IsNumber()
  min?: number;

  /**
   * The greatest value, for numbers only. A mutation that would lead beyond it is refused.
   * @example 1000
   */
  @IsOptional()
  @IsNumber()
  max?: number;

  /** Absent: a value stays until it is changed. */
  @IsOptional()
  @ValidateNested()
  @Type(() => PeriodDto)
  period?: PeriodDto;

  /**
   * A note for operators.
   * @example "Loyalty points"
   */
  @IsOptional()
  @IsString()
  @MaxLength(DESCRIPTION_CHARACTERS_MAX)
  description?: string;
}

/** A declared variable. */
export class VariableDto {
  @ApiProperty({ enum: VARIABLE_SCOPES, enumName: 'VariableScope' })
  scope!: VariableScope;

  name!: string;

  @ApiProperty({ enum: VARIABLE_TYPES, enumName: 'VariableType' })
  type!: VariableType;

  /**
   * Of the variable's type; absent when none is set.
   * @example 100
   */
  @ApiProperty({ ...VARIABLE_VALUE, required: false })
  default?: VariableValue;

  /**
   * The least value; absent when none is set.
   * @example 0
   */
  min?: number;

  /**
   * The greatest value; absent when none is set.
   * @example 1000
   */
  max?: number;

  /** Absent when none is set. */
  period?: PeriodDto;

  /**
   * Absent when none is set.
   * @example "Loyalty points"
   */
  description?: string;

  static of({ scope, name, type, defaultValue, min, max, period, description }: Variable): VariableDto {
    return {
      scope,
      name,
      type,
      ...(defaultValue === null ? {} : { default: defaultValue }),
      ...(min === null ? {} : { min }),
      ...(max === null ? {} : { max }),
      ...(period === null ? {} : { period }),
      ...(description === null ? {} : { description }),
    };
  }
}

export class DefinedVariableDto {
  @ApiProperty({ enum: ['defined'] })
  status!: 'defined';

  variable!: VariableDto;
}

export class ArchivedVariableDto {
  @ApiProperty({ enum: ['archived'] })
  status!: 'archived';

  variable!: VariableDto;
}

export class VariableListDto {
  /** In the order of scopes `user`, `campaign`, `app`, and by name. */
  variables!: VariableDto[];
}
