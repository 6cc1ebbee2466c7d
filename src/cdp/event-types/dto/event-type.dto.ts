import { ApiProperty } from '@nestjs/swagger';
import { PATH_NAME } from '../../../platform/values/text/path-name';
import {
  ADDITIONAL_PROPERTIES,
  DEFINITION_LIMITS,
  PROPERTY_FORMATS,
  PROPERTY_TYPES,
  type EventTypeDefinition,
  type PropertyDefinition,
  type PropertyFormat,
  type PropertyType,
} from '../domain/event-type-definition';
import type { EventTypeHistory, EventTypePage, RegisteredVersion } from '../domain/event-type-page';

const DESCRIPTION = { maxLength: DEFINITION_LIMITS.descriptionCharactersMax };

/** The properties of an event type by name. */
export const DECLARED_PROPERTIES = {
  type: 'object',
  additionalProperties: { $ref: '#/components/schemas/PropertyDefinitionDto' },
  maxProperties: DEFINITION_LIMITS.propertiesMax,
  example: { amount: { type: 'number', required: true }, quantity: { type: 'integer' } },
} as const;

/** One property of an event type. */
export class PropertyDefinitionDto implements PropertyDefinition {
  @ApiProperty({ enum: PROPERTY_TYPES, enumName: 'PropertyType' })
  type!: PropertyType;

  required?: boolean;

  /** The allowed values, of the property's type; only for `string`, `number` and `integer`. */
  @ApiProperty({
    type: 'array',
    items: {
      oneOf: [{ type: 'string', maxLength: DEFINITION_LIMITS.enumValueCharactersMax }, { type: 'number' }],
    },
    minItems: 1,
    maxItems: DEFINITION_LIMITS.enumValuesMax,
    uniqueItems: true,
  })
  enum?: readonly (string | number)[];

  /** The format of the text; only for `string`. */
  @ApiProperty({ enum: PROPERTY_FORMATS, enumName: 'PropertyFormat' })
  format?: PropertyFormat;

  @ApiProperty(DESCRIPTION)
  description?: string;

  /** Metadata for segment builders; not enforced. */
  segmentable?: boolean;

  /** Personal data: masked in every view. */
  pii?: boolean;
}

/**
 * The body of a registration. `parseRegistration` checks it, and both use the tables of `event-type-definition.ts`; a
 * spec compares the two.
 */
export class RegisterEventTypeDto implements Partial<EventTypeDefinition> {
  /**
   * The name.
   * @example "purchase"
   */
  @ApiProperty({ pattern: PATH_NAME.source })
  eventType!: string;

  /** @example "A customer bought something" */
  @ApiProperty(DESCRIPTION)
  description?: string;

  /** The properties by name. */
  @ApiProperty(DECLARED_PROPERTIES)
  properties!: Record<string, PropertyDefinitionDto>;

  /** Whether events may have properties that are not declared; `reject` when absent. */
  @ApiProperty({ enum: ADDITIONAL_PROPERTIES })
  additionalProperties?: 'reject' | 'allow';

  /** Registers the version even if it breaks events that were valid before. */
  force?: boolean;
}

/** One immutable version of an event type. */
export class EventTypeDto {
  eventType!: string;

  version!: number;

  /** @example "A customer bought something" */
  description?: string;

  @ApiProperty(DECLARED_PROPERTIES)
  properties!: Readonly<Record<string, PropertyDefinitionDto>>;

  @ApiProperty({ enum: ADDITIONAL_PROPERTIES })
  additionalProperties!: string;

  createdAt!: Date;

  static of({ eventType, version, definition, createdAt }: RegisteredVersion): EventTypeDto {
    const { description, properties, additionalProperties } = definition;
    return {
      eventType,
      version,
      properties,
      additionalProperties,
      createdAt,
      ...(description === undefined ? {} : { description }),
    };
  }
}

/** An event type in a list: its current version, and when it was deprecated. */
export class ListedEventTypeDto extends EventTypeDto {
  /** When it was deprecated; null: it is not. Events of a deprecated type open a review warning. */
  deprecatedAt!: Date | null;
}

export class EventTypePageDto {
  items!: ListedEventTypeDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  static of({ types, nextCursor }: EventTypePage): EventTypePageDto {
    return {
      items: types.map(({ latest, deprecatedAt }) => Object.assign(EventTypeDto.of(latest), { deprecatedAt })),
      nextCursor,
    };
  }
}

/** An event type with its versions. */
export class EventTypeHistoryDto {
  eventType!: string;

  /** When it was deprecated; null: it is not. Events of a deprecated type open a review warning. */
  deprecatedAt!: Date | null;

  /** Newest first, at most 100, and fewer if they are large. The first one is current. */
  versions!: EventTypeDto[];

  static of({ eventType, deprecatedAt, versions }: EventTypeHistory): EventTypeHistoryDto {
    return { eventType, deprecatedAt, versions: versions.map((version) => EventTypeDto.of(version)) };
  }
}
