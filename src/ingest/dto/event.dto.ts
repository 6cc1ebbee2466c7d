import { ApiProperty } from '@nestjs/swagger';
import { maskIdentityFields, maskProperties } from '../../platform/masking/mask';
import type { Event } from '../entities/event.entity';

/** How far an event has come after it was taken. */
export class ProcessingDto {
  @ApiProperty({ enum: ['queued', 'processed', 'failed'] })
  state!: 'queued' | 'processed' | 'failed';

  attempts!: number;

  processedAt!: Date | null;

  lastError!: string | null;
}

/** A stored event; identity and properties are masked unless they were asked for unmasked. */
export class EventDto {
  eventId!: string;

  @ApiProperty({ enum: ['external', 'cdp'] })
  family!: string;

  source!: string;

  externalEventId!: string;

  eventType!: string;

  /** The version of the contract it was checked against; null in the external-events family. */
  eventTypeVersion!: number | null;

  occurredAt!: Date;

  receivedAt!: Date;

  /** The customer that it belongs to now. */
  profileId!: string;

  /** @example { "EMAIL": "j***@e***.com" } */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  identity!: Record<string, string>;

  /** @example { "amount": 29.33, "quantity": 2 } */
  @ApiProperty({ type: 'object', additionalProperties: true })
  properties!: Record<string, unknown>;

  processing!: ProcessingDto;

  /** `personal`: the properties that the event's type declares as personal data; null shows everything. */
  static of(event: Event, customerId: string, personal: ReadonlySet<string> | null): EventDto {
    const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
    const { occurredAt, receivedAt } = event;
    return {
      ...{ eventId, family, source, externalEventId, eventType, eventTypeVersion, occurredAt, receivedAt },
      profileId: customerId,
      identity: personal === null ? event.identity : maskIdentityFields(event.identity),
      properties:
        personal === null ? event.properties : (maskProperties(event.properties, personal) as Record<string, unknown>),
      // Every stored event is in the queue: nothing takes events out of it yet.
      processing: { state: 'queued', attempts: 0, processedAt: null, lastError: null },
    };
  }
}

export class EventPageDto {
  items!: EventDto[];

  /** Null at the end. */
  nextCursor!: string | null;
}
