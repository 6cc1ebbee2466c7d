import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller, type AuthenticatedRequest } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { parseTimeRange } from '../../platform/pagination/time-range';
import { DomainError } from '../../platform/errors/domain-error';
import { isUuid } from '../../platform/values/uuid';
import { UnmaskAudit } from '../../platform/auth/unmask-audit';
import { UnmaskQuery } from '../../platform/auth/unmask.query';
import { limitOf } from '../../platform/pagination/page.query';
import { pageStart } from '../../platform/pagination/time-key';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { EventDto, EventPageDto } from './dto/event.dto';
import { EventQuery } from './dto/event.query';
import { EventReader } from './event-reader';
import { EventViews } from './event-views';

@ApiTags('Events')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventReader,
    private readonly views: EventViews,
    private readonly unmasking: UnmaskAudit,
  ) {}

  /** Lists stored events by their time of receipt; with `source` and `externalEventId`, the one of that name. */
  @Get()
  @AuthenticateApiKey('events:read', { unmasks: true })
  @ApiOkResponse({ type: EventPageDto })
  async listEvents(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: EventQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<EventPageDto> {
    const { order = 'desc', cursor, ...fields } = query;
    const filter = { ...fields, ...parseTimeRange(query) };
    const start = { order, after: cursor === undefined ? undefined : pageStart(cursor) };
    const page = await this.events.list(tenantId, filter, start, limitOf(query));
    const records = page.events.map(({ eventId }) => eventId);
    const profiles = page.events.map(({ profileId }) => profileId);
    const unmasked = await this.unmasking.unmasks(request, { records, profiles });
    return EventPageDto.of(page, await this.views.of(tenantId, page.events, { unmasked }));
  }

  /** Shows one stored event. */
  @Get(':eventId')
  @AuthenticateApiKey('events:read', { unmasks: true })
  @MayRefuse('event_expired')
  @ApiOkResponse({ type: EventDto })
  async getEvent(
    @Caller() { tenantId }: Principal,
    @Param('eventId') eventId: string,
    @CheckedQuery() _query: UnmaskQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<EventDto> {
    const event = isUuid(eventId) ? await this.events.find(tenantId, eventId) : null;
    if (event === null) throw await this.refusalOf(tenantId, eventId);
    const unmasked = await this.unmasking.unmasks(request, { profiles: [event.profileId] });
    const [view] = await this.views.of(tenantId, [event], { unmasked });
    if (view === undefined) throw new Error('An event was left without a view');
    return view;
  }

  private async refusalOf(tenantId: string, eventId: string): Promise<DomainError> {
    if (isUuid(eventId) && (await this.events.hasExpired(tenantId, eventId))) {
      return new DomainError('event_expired', 'The event was removed: this workspace keeps events for fewer days.');
    }
    return new DomainError('not_found', 'There is no event with this id in this workspace.');
  }
}
