import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Steps } from '../../../platform/values/time-slice';
import { maskIdentityFields, propertySteps } from '../../../platform/privacy/mask';
import type { LoggedEvent } from '../../domain/event';
import { EVENT_FAMILIES } from '../../domain/submission';
import {
  PROCESSING_STATES,
  REACTION_OUTCOMES,
  type ProcessingState,
  type ProcessingView,
} from '../../queue/processing-record';
import type { DeliveryView } from '../delivery-views';

/** What became of an event so far, as far as it is known. */
interface EventProgress {
  readonly processing: ProcessingView | undefined;
  readonly deliveries: readonly DeliveryView[] | undefined;
}

const QUEUED: ProcessingView = { state: 'queued', attempts: 0, processedAt: null, lastError: null, reactions: [] };

/** What one reaction did with the event. */
export class ReactionOutcomeDto {
  campaignId!: string;

  name!: string;

  /** `waiting_for_customer`: it changes values of the participant, and the customer has no EXTERNAL identifier yet. */
  @ApiProperty({ enum: REACTION_OUTCOMES })
  outcome!: (typeof REACTION_OUTCOMES)[number];

  /** Why it was skipped, or failed. */
  reason?: string;

  /** When the backfill was requested that brought the reaction to an event received before; absent: none did. */
  @ApiPropertyOptional({ format: 'date-time' })
  backfilledAt?: string;
}

/** What became of the event at a webhook. */
export class EventDeliveryDto {
  webhookId!: string;

  /** @example "delivered" */
  state!: string;

  @ApiProperty({ type: 'integer', example: 1 })
  attemptCount!: number;
}

/** How far an event has come after it was taken. */
export class ProcessingDto {
  @ApiProperty({ enum: PROCESSING_STATES })
  state!: ProcessingState;

  /** Those that have failed, and the one that has not. */
  attempts!: number;

  /** When it was processed, or failed for good. Null while it is queued, and for an event that nothing was done with after 30 days. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  processedAt!: string | null;

  /** What went wrong in the last attempt: a code, and words. */
  lastError!: string | null;

  reactions!: ReactionOutcomeDto[];

  /** Absent: it is for no webhook. Shown for 30 days after it was delivered. */
  deliveries?: EventDeliveryDto[];

  static of({ processing = QUEUED, deliveries }: EventProgress): ProcessingDto {
    const { state, attempts, processedAt, lastError, reactions } = processing;
    const dto: ProcessingDto = {
      state,
      attempts,
      processedAt: processedAt?.toISOString() ?? null,
      lastError,
      reactions: [...reactions],
    };
    if (deliveries !== undefined) dto.deliveries = [...deliveries];
    return dto;
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

  @ApiProperty({ format: 'date-time' })
  occurredAt!: string;

  @ApiProperty({ format: 'date-time' })
  receivedAt!: string;

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
    event: LoggedEvent,
    customerId: string,
    personal: ReadonlySet<string> | null,
    progress: EventProgress,
  ): Steps<EventDto> {
    const { eventId, family, source, externalEventId, eventType, eventTypeVersion } = event;
    const properties = personal === null ? event.properties : yield* propertySteps(event.properties, personal);
    // Without a spread, which is measurably slower here, as JSON.stringify of a Date is than its text.
    return {
      eventId,
      family,
      source,
      externalEventId,
      eventType,
      eventTypeVersion,
      occurredAt: event.occurredAt.toISOString(),
      receivedAt: event.receivedAt.toISOString(),
      profileId: customerId,
      identity: personal === null ? event.identity : maskIdentityFields(event.identity),
      properties: properties as Record<string, unknown>,
      processing: ProcessingDto.of(progress),
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

  /**
   * Only with `order=asc`, and not for one event by name: every event that was received before this time is stored and can be
   * listed. Later ones are not listed yet. To follow the log, ask again with `from` set to this time. A replay may still store
   * an event with an earlier time, that of its first receipt.
   */
  completeBefore?: Date;

  static of({ nextCursor, scanned, completeBefore }: Omit<EventPageDto, 'items'>, items: EventDto[]): EventPageDto {
    return {
      items,
      nextCursor,
      ...(scanned === undefined ? {} : { scanned }),
      ...(completeBefore === undefined ? {} : { completeBefore }),
    };
  }
}
