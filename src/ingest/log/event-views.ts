import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IdentityService } from '../../identity/identity.service';
import { preparedReads } from '../../platform/postgres/prepared-query';
import { TimeSlice } from '../../platform/values/time-slice';
import { namesFrom, PersonalProperties } from '../../platform/privacy/personal-properties';
import { DeliveryViews } from './delivery-views';
import { EventDto } from './dto/event.dto';
import type { ListedEvent } from '../domain/logged-event';
import { ProcessingReader } from '../queue/processing-reader';

export interface EventViewOptions {
  readonly unmasked: boolean;
  /** The customer of all of the events, where the caller has looked it up. */
  readonly customerId?: string;
}

/** Stored events as the API shows them (contract section 3, record). */
@Injectable()
export class EventViews {
  constructor(
    private readonly database: DataSource,
    private readonly identity: IdentityService,
    private readonly personal: PersonalProperties,
    private readonly processing: ProcessingReader,
    private readonly deliveries: DeliveryViews,
  ) {}

  /**
   * Masked, unless `unmasked`, which a caller may set only after `UnmaskAudit` has recorded it. A page takes one connection
   * at a time.
   */
  async of(tenantId: string, events: readonly ListedEvent[], options: EventViewOptions): Promise<EventDto[]> {
    const { unmasked } = options;
    const customerOf = await this.customers(tenantId, events, options);
    const ids = events.map(({ eventId }) => eventId);
    const [processing, deliveries] = await preparedReads(this.database, (read) =>
      Promise.all([this.processing.of(read, tenantId, events), this.deliveries.of(read, tenantId, ids)]),
    );
    const types = events.map(({ eventType }) => eventType);
    const names = unmasked ? null : await this.personal.namesOfAll(tenantId, types);
    const slice = new TimeSlice();
    const views: EventDto[] = [];
    for (const event of events) {
      const customerId = customerOf(event);
      const personal = names === null ? null : namesFrom(names, event.eventType);
      const { eventId } = event;
      const progress = { processing: processing.get(eventId), deliveries: deliveries.get(eventId) };
      views.push(await slice.run(EventDto.of(event, customerId, personal, progress)));
    }
    return views;
  }

  private async customers(
    tenantId: string,
    events: readonly ListedEvent[],
    { customerId }: EventViewOptions,
  ): Promise<(event: ListedEvent) => string> {
    if (customerId !== undefined) return () => customerId;
    const profileIds = [...new Set(events.map((event) => event.profileId))];
    const customers = await this.identity.customersOf(tenantId, profileIds);
    return ({ profileId }) => customers.get(profileId) ?? profileId;
  }
}
