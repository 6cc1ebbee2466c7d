import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { PATH_NAME } from '../../../platform/values/text/path-name';
import type { InferredEventType } from '../event-type-inference';
import { DECLARED_PROPERTIES, type PropertyDefinitionDto } from './event-type.dto';

export class InferEventTypeDto {
  /**
   * The name that events were sent with, of a registered type or not.
   * @example "purchase"
   */
  @Matches(PATH_NAME)
  eventType!: string;
}

/** A draft for `POST /v1/cdp/event-types`. */
export class InferredEventTypeDto {
  eventType!: string;

  /**
   * The properties by name; empty without events. Required are those that every event has, `pii` those that views mask.
   */
  @ApiProperty(DECLARED_PROPERTIES)
  properties!: Readonly<Record<string, PropertyDefinitionDto>>;

  /** How many stored events it is made of; 0 without the scope `events:read`. */
  stored!: number;

  /** How many refused events it is made of; 0 without the scope `review:read`. */
  refused!: number;

  static of({ eventType, properties, stored, refused }: InferredEventType): InferredEventTypeDto {
    return { eventType, properties, stored, refused };
  }
}
