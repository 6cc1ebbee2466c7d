import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { EventTypeJsonSchema } from '../domain/event-type-schema';

/** A JSON Schema (draft 2020-12) for the `properties` of events of one type. Other tools can use it directly. */
export class EventTypeSchemaDto {
  /** @example "https://json-schema.org/draft/2020-12/schema" */
  $schema!: string;

  /**
   * The event type.
   * @example "purchase"
   */
  title!: string;

  description?: string;

  /** @example "object" */
  type!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, example: { amount: { type: 'number' } } })
  properties!: EventTypeJsonSchema;

  /** Contains a property `__proto__`, which most tools cannot handle under `properties`. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  patternProperties?: EventTypeJsonSchema;

  /** @example ["amount"] */
  required!: string[];

  /** @example false */
  additionalProperties!: boolean;

  /** @example 300 */
  maxProperties!: number;
}
