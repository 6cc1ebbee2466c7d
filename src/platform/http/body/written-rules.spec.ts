import 'reflect-metadata';
import { IsInt, IsNotEmpty, IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import type { SchemaObject } from '../openapi/open-api-schema';
import { writeRules } from './written-rules';

const CODE = /^[A-Z]{3}$/;

class PriceDto {
  @IsInt()
  cents!: number;

  @Matches(CODE)
  currency!: string;

  @IsOptional()
  @IsString({ each: true })
  @Length(1, 5, { each: true })
  labels?: string[];
}

class VagueDto {
  @IsNotEmpty()
  name!: string;
}

class CaselessDto {
  @Matches(/^[a-z]+$/i)
  name!: string;
}

class LongDto {
  @MaxLength(5)
  name!: string;
}

const named = (): Record<string, SchemaObject> => ({ name: { type: 'string' } });

describe('writeRules', () => {
  it('writes what Swagger’s plugin cannot read from the source', () => {
    const properties: Record<string, SchemaObject> = {
      cents: { type: 'number' },
      currency: { type: 'string' },
      labels: { type: 'array', items: { type: 'string' }, minLength: 1, maxLength: 5 },
    };
    writeRules(PriceDto, { PriceDto: { type: 'object', properties } });
    expect(properties).toEqual({
      cents: { type: 'integer' },
      currency: { type: 'string', pattern: '^[A-Z]{3}$' },
      labels: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 5 } },
    });
  });

  it('may be done twice to one document', () => {
    const properties = named();
    const schemas = { LongDto: { type: 'object', properties } };
    writeRules(LongDto, schemas);
    writeRules(LongDto, schemas);
    expect(properties).toEqual({ name: { type: 'string', maxLength: 5 } });
  });

  it('stops at a rule that a schema cannot say, instead of leaving it to nobody', () => {
    expect(() => writeRules(VagueDto, { VagueDto: { type: 'object', properties: named() } })).toThrow(
      'VagueDto.name: the rule isNotEmpty has no counterpart in a schema.',
    );
    expect(() => writeRules(CaselessDto, { CaselessDto: { type: 'object', properties: named() } })).toThrow(/flags/);
    expect(() => writeRules(LongDto, { LongDto: { type: 'object' } })).toThrow(/not in the schema/);
  });
});
