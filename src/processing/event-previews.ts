import { Injectable } from '@nestjs/common';
import type { EventFields } from '../ingest/domain/event';
import { eventIdOf } from '../ingest/domain/deduplication';
import { refusedByStore, type RefusedResult } from '../ingest/domain/ingest-result';
import { EventQueue } from '../ingest/queue/event-queue';
import { IdentityService } from '../identity/identity.service';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { eventToProcess, type EventToProcess } from './domain/event-effects';
import { SerialConnection } from './serial-connection';

/** An event as an effect would get it now. Null: its person was erased, so that no effect would. */
export interface PreviewedEvent {
  readonly eventId: string;
  readonly toProcess: EventToProcess | null;
}

/** Events as effects would get them, with the customers that they belong to now. Writes nothing. */
@Injectable()
export class EventPreviews {
  constructor(
    private readonly serial: SerialConnection,
    private readonly queue: EventQueue,
    private readonly identity: IdentityService,
    private readonly clock: Clock,
  ) {}

  /** Stored events, in the order of the ids; others are missing. The caller limits their number. */
  stored(tenantId: string, eventIds: readonly string[]): Promise<readonly PreviewedEvent[]> {
    return this.serial.transaction(tenantId, async (open) => {
      const events = await this.queue.events(open, tenantId, eventIds);
      const profiles = [...new Set([...events.values()].map(({ profileId }) => profileId))];
      const customers = await this.identity.holdCustomers(open, tenantId, profiles);
      return eventIds.flatMap((eventId): PreviewedEvent[] => {
        const event = events.get(eventId);
        if (event === undefined) return [];
        const customer = customers.get(event.profileId);
        if (customer === undefined || customer.isErased) return [{ eventId, toProcess: null }];
        return [{ eventId, toProcess: eventToProcess(tenantId, event, customer) }];
      });
    });
  }

  /**
   * An event that is not stored, as if it were received now, or why it would be refused. Its identifiers may merge customers,
   * as they would then. A customer who would be new gets a new id.
   */
  async unstored(tenantId: string, fields: EventFields): Promise<PreviewedEvent | RefusedResult> {
    const { occurredAt, identifiers, ...others } = fields;
    const eventId = eventIdOf(tenantId, fields.source, fields.externalEventId);
    const receivedAt = this.clock.now();
    const claim = { tenantId, eventId, identifiers, at: receivedAt.getTime(), newProfileId: newId() };
    const customer = await this.serial.transaction(tenantId, (open) => this.identity.preview(open, claim));
    if (customer.outcome !== 'resolved') return refusedByStore(customer.outcome);
    const { profileId } = customer;
    const event = {
      ...others,
      occurredAt: occurredAt === null ? receivedAt : new Date(occurredAt),
      eventId,
      receivedAt,
      profileId,
    };
    return { eventId, toProcess: eventToProcess(tenantId, event, customer) };
  }
}
