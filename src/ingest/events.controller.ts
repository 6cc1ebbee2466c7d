import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { IdentityService } from '../identity/identity.service';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/ids/uuid';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { limitOf } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import { EventDto, EventPageDto } from './dto/event.dto';
import { EventQuery } from './dto/event.query';
import type { Event } from './entities/event.entity';
import { EventReader } from './event-reader';

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventReader,
    private readonly identity: IdentityService,
    private readonly personal: PersonalProperties,
  ) {}

  /** Lists stored events, newest first; with `source` and `externalEventId`, the one of that name. */
  @Get()
  @AuthenticateApiKey('events:read')
  @ApiOkResponse({ type: EventPageDto })
  async listEvents(@Caller() { tenantId }: Principal, @Query() query: EventQuery): Promise<EventPageDto> {
    const { events, nextCursor } = await this.events.list(tenantId, query, pageStart(query.cursor), limitOf(query));
    return { items: await this.views(tenantId, events), nextCursor };
  }

  /** Shows one stored event. */
  @Get(':eventId')
  @AuthenticateApiKey('events:read')
  @ApiOkResponse({ type: EventDto })
  async getEvent(@Caller() { tenantId }: Principal, @Param('eventId') eventId: string): Promise<EventDto> {
    const event = isUuid(eventId) ? await this.events.find(tenantId, eventId) : null;
    if (event === null) throw new DomainError('not_found', 'There is no event with this id in this workspace.');
    const [view] = await this.views(tenantId, [event]);
    if (view === undefined) throw new Error('An event was left without a view');
    return view;
  }

  private async views(tenantId: string, events: readonly Event[]): Promise<EventDto[]> {
    const customers = await this.identity.customersOf(tenantId, [...new Set(events.map((event) => event.profileId))]);
    return Promise.all(
      events.map(async (event) => {
        const customerId = customers.get(event.profileId) ?? event.profileId;
        return EventDto.of(event, customerId, await this.personal.namesOf(tenantId, event.eventType));
      }),
    );
  }
}
