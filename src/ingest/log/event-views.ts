import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CustomerReader } from '../../identity/customer-reader';
import { preparedReads, type ReadRows } from '../../platform/postgres/prepared-query';
import { TimeSlice } from '../../platform/values/time-slice';
import { namesFrom, PersonalProperties } from '../../platform/privacy/personal-properties';
import { DeliveryViews } from './delivery-views';
import { EventDto } from './dto/event.dto';
import type { ListedEvent } from '../domain/event';
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
    private readonly customers: CustomerReader,
    private readonly personal: PersonalProperties,
    private readonly processing: ProcessingReader,
    private readonly deliveries: DeliveryViews,
  ) {}

  /** Masked, unless `unmasked`, which a caller may set only after `UnmaskAudit` has recorded it. */
  async of(
    tenantId: string,
    events: readonly ListedEvent[],
    { unmasked, customerId }: EventViewOptions,
  ): Promise<EventDto[]> {
    const ids = events.map(({ eventId }) => eventId);
    const [processing, deliveries, customers] = await preparedReads(this.database, (read) =>
      Promise.all([
        this.processing.of(read, tenantId, events),
        this.deliveries.of(read, tenantId, ids),
        customerId === undefined ? this.customersOf(read, tenantId, events) : new Map<string, string>(),
      ]),
    );
    const types = events.map(({ eventType }) => eventType);
    const names = unmasked ? null : await this.personal.namesOfAll(tenantId, types);
    const slice = new TimeSlice();
    const views: EventDto[] = [];
    for (const event of events) {
      const { eventId, profileId } = event;
      const customer = customerId ?? customers.get(profileId) ?? profileId;
      const personal = names === null ? null : namesFrom(names, event.eventType);
      const progress = { processing: processing.get(eventId), deliveries: deliveries.get(eventId) };
      views.push(await slice.run(EventDto.of(event, customer, personal, progress)));
    }
    return views;
  }

  private customersOf(
    read: ReadRows,
    tenantId: string,
    events: readonly ListedEvent[],
  ): Promise<ReadonlyMap<string, string>> {
    return this.customers.rootsOf(read, tenantId, [...new Set(events.map(({ profileId }) => profileId))]);
  }
}
