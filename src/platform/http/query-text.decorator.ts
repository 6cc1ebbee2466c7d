import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';

/** Optional text of a query class, with its limit in code and document: `@QueryText(128) source?: string`. */
export function QueryText(charactersMax: number, format?: 'date-time'): PropertyDecorator {
  const schema = { type: 'string', maxLength: charactersMax, ...(format === undefined ? {} : { format }) } as const;
  return applyDecorators(IsOptional(), IsString(), MaxLength(charactersMax), ApiPropertyOptional(schema));
}
