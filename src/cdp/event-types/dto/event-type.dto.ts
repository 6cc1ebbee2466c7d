import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import type { EventTypeVersion } from '../entities/event-type-version.entity';

const PROPERTY_TYPES = ['string', 'number', 'integer', 'boolean', 'timestamp', 'object', 'array'];

/** One property of an event type. */
export class PropertyDefinitionDto {
  @ApiProperty({ enum: PROPERTY_TYPES, enumName: 'PropertyType' })
  type!: string;

  required?: boolean;

  /** The values it takes, of its type. */
  @ApiProperty({ type: 'array', items: { oneOf: [{ type: 'string' }, { type: 'number' }] } })
  enum?: readonly (string | number)[];

  /** A form that text must have. */
  format?: string;

  description?: string;

  /** Meant for segment builders; not enforced. */
  segmentable?: boolean;

  /** Personal data: masked in every view. */
  pii?: boolean;
}

export class RegisterEventTypeDto {
  /**
   * Its name.
   * @example "purchase"
   */
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  eventType!: string;

  /** @example "A customer bought something" */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  description?: string;

  /**
   * Its properties by name.
   * @example { "amount": { "type": "number", "required": true }, "quantity": { "type": "integer" } }
   */
  @IsObject()
  @ApiProperty({ type: 'object', additionalProperties: { $ref: '#/components/schemas/PropertyDefinitionDto' } })
  properties!: Record<string, PropertyDefinitionDto>;

  /** What happens to events with properties that are not declared; `reject` when absent. */
  @IsOptional()
  @IsIn(['reject', 'allow'])
  @ApiProperty({ enum: ['reject', 'allow'], required: false })
  additionalProperties?: 'reject' | 'allow';

  /** Puts a version in force although it breaks events that were right before. */
  @IsOptional()
  @IsBoolean()
  force?: boolean;
}

type VersionFields = Pick<EventTypeVersion, 'eventType' | 'version' | 'definition' | 'createdAt'>;

/** One immutable version of an event type. */
export class EventTypeDto {
  eventType!: string;

  version!: number;

  /** @example "A customer bought something" */
  description?: string;

  /** @example { "amount": { "type": "number", "required": true }, "quantity": { "type": "integer" } } */
  @ApiProperty({ type: 'object', additionalProperties: { $ref: '#/components/schemas/PropertyDefinitionDto' } })
  properties!: Readonly<Record<string, PropertyDefinitionDto>>;

  @ApiProperty({ enum: ['reject', 'allow'] })
  additionalProperties!: string;

  createdAt!: Date;

  static of({ eventType, version, definition, createdAt }: VersionFields): EventTypeDto {
    const { description, properties, additionalProperties } = definition;
    return {
      ...{ eventType, version, properties, additionalProperties, createdAt },
      ...(description === undefined ? {} : { description }),
    };
  }
}
