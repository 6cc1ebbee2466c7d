import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { TIMESTAMP_CHARACTERS_MAX } from '../../domain/event-limits';

/** An end of a range of times in a query class, which `parseTimeRange` reads: `@TimeBound() from?: string`. */
export function TimeBound(): PropertyDecorator {
  return applyDecorators(
    IsOptional(),
    IsString(),
    MaxLength(TIMESTAMP_CHARACTERS_MAX),
    ApiPropertyOptional({ type: 'string', format: 'date-time' }),
  );
}
