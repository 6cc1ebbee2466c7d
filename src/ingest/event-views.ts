import { Injectable } from '@nestjs/common';
import { IdentityService } from '../identity/identity.service';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { EventDto } from './dto/event.dto';
import type { Event } from './entities/event.entity';
import { ProcessingReader } from './processing-reader';

export interface ViewOptions {
  readonly unmasked: boolean;
}

/** Stored events as the API shows them (contract section 3, record). */
@Injectable()
export class EventViews {
  constructor(
    private readonly identity: IdentityService,
    private readonly personal: PersonalProperties,
    private readonly processing: ProcessingReader,
  ) {}

  /** Masked, unless `unmasked`, which only whoever has asked `UnmaskAudit` may say. */
  async of(tenantId: string, events: readonly Event[], { unmasked }: ViewOptions): Promise<EventDto[]> {
    const profileIds = [...new Set(events.map((event) => event.profileId))];
    const [customers, processing] = await Promise.all([
      this.identity.customersOf(tenantId, profileIds),
      this.processing.of(tenantId, events),
    ]);
    return Promise.all(
      events.map(async (event) => {
        const customerId = customers.get(event.profileId) ?? event.profileId;
        const personal = unmasked ? null : await this.personal.namesOf(tenantId, event.eventType);
        return EventDto.of(event, customerId, personal, processing.get(event.eventId));
      }),
    );
  }
}
