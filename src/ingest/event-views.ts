import { Injectable } from '@nestjs/common';
import { IdentityService } from '../identity/identity.service';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { EventDto } from './dto/event.dto';
import type { Event } from './entities/event.entity';

/** Stored events as the API shows them (contract section 3, record). */
@Injectable()
export class EventViews {
  constructor(
    private readonly identity: IdentityService,
    private readonly personal: PersonalProperties,
  ) {}

  async of(tenantId: string, events: readonly Event[]): Promise<EventDto[]> {
    const customers = await this.identity.customersOf(tenantId, [...new Set(events.map((event) => event.profileId))]);
    return Promise.all(
      events.map(async (event) => {
        const customerId = customers.get(event.profileId) ?? event.profileId;
        return EventDto.of(event, customerId, await this.personal.namesOf(tenantId, event.eventType));
      }),
    );
  }
}
