import { ApiProperty } from '@nestjs/swagger';
import type { Steps } from '../../../platform/values/time-slice';
import { maskIdentityFields, propertySteps } from '../../../platform/privacy/mask';
import { EVENT_FAMILIES } from '../../domain/submission';
import {
  PROCESSING_STATES,
  REACTION_OUTCOMES,
  type ProcessingState,
  type ProcessingView,
} from '../../queue/processing-record';
import type { EventRow } from '../../store/entities/event.entity';

/** What one reaction did with the event. */
export class ReactionOutcomeDto {
  campaignId!: string;

  name!: string;

  /** `waiting_for_customer`: it changes values of the participant, and the customer has no EXTERNAL identifier yet. */
  @ApiProperty({ enum: REACTION_OUTCOMES })
  outcome!: (typeof REACTION_OUTCOMES)[number];

  /** Why it was skipped, or failed. */
  reason?: string;
}

/** How far an event has come after it was taken. */
export class ProcessingDto {
  @ApiProperty({ enum: PROCESSING_STATES })
  state!: ProcessingState;

  /** Those that have failed, and the one that has not. */
  attempts!: number;

  /** When it was processed, or failed for good. Null while it is queued, and for an event that nothing was done with after 30 days. */
  processedAt!: Date | null;

  /** What went wrong in the last attempt: a code, and words. */
  lastError!: string | null;

  reactions!: ReactionOutcomeDto[];

  static of(processing: ProcessingView | undefined): ProcessingDto {
    if (processing === undefined) {
      return { state: 'queued', attempts: 0, processedAt: null, lastError: null, reactions: [] };
    }
    const { state, attempts, processedAt, lastError, reactions } = processing;
    return { state, attempts, processedAt, lastError, reactions: [...reactions] };
  }
}

/** A stored event; identity and properties are masked unless they were asked for unmasked. */
export class EventDto {
  eventId!: string;

  @ApiProperty({ enum: EVENT_FAMILIES })
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

  /** In steps of bounded work. `personal`: the properties that its type declares as personal data; null shows everything. */
  static *of(
    event: EventRow,
    customerId: string,
    personal: ReadonlySet<string> | null,
    processing: ProcessingView | undefined,
  ): Steps<EventDto> {
    const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
    const { occurredAt, receivedAt } = event;
    const properties = personal === null ? event.properties : yield* propertySteps(event.properties, personal);
    return {
      ...{ eventId, family, source, externalEventId, eventType, eventTypeVersion, occurredAt, receivedAt },
      profileId: customerId,
      identity: personal === null ? event.identity : maskIdentityFields(event.identity),
      properties: properties as Record<string, unknown>,
      processing: ProcessingDto.of(processing),
    };
  }
}

export class EventPageDto {
  items!: EventDto[];

  /** Null at the end. */
  nextCursor!: string | null;

  /**
   * How many events were looked at, where that ended the page: few of them fit the filters, perhaps none. The list goes on at
   * `nextCursor`.
   */
  scanned?: number;

  static of({ nextCursor, scanned }: Omit<EventPageDto, 'items'>, items: EventDto[]): EventPageDto {
    return { items, nextCursor, ...(scanned === undefined ? {} : { scanned }) };
  }
}
