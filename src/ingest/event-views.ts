import { Injectable } from '@nestjs/common';
import { IdentityService } from '../identity/identity.service';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { EventDto } from './dto/event.dto';
import type { Event } from './entities/event.entity';

export interface ViewOptions {
  readonly unmasked: boolean;
}

/** Stored events as the API shows them (contract section 3, record). */
@Injectable()
export class EventViews {
  constructor(
    private readonly identity: IdentityService,
    private readonly personal: PersonalProperties,
  ) {}

  /** Masked, unless `unmasked`, which only whoever has asked `UnmaskAudit` may say. */
  async of(tenantId: string, events: readonly Event[], { unmasked }: ViewOptions): Promise<EventDto[]> {
    const customers = await this.identity.customersOf(tenantId, [...new Set(events.map((event) => event.profileId))]);
    return Promise.all(
      events.map(async (event) => {
        const customerId = customers.get(event.profileId) ?? event.profileId;
        const personal = unmasked ? null : await this.personal.namesOf(tenantId, event.eventType);
        return EventDto.of(event, customerId, personal);
      }),
    );
  }
}
