import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventPageDto } from '../../ingest/log/dto/event.dto';
import { EventViews } from '../../ingest/log/event-views';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller, type AuthenticatedRequest } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { UnmaskAudit } from '../../platform/auth/unmask-audit';
import { UnmaskQuery } from '../../platform/auth/unmask.query';
import { limitOf } from '../../platform/pagination/page.query';
import { IdentityLookupDto, ProfileDto, ProfilePageDto } from './dto/profile.dto';
import { ProfileListQuery, ProfileTimelineQuery, timelineSpan } from './dto/profile.query';
import { IdentityLookupCheck } from './identity-lookup-check';
import { ProfilesService } from './profiles.service';

@ApiTags('Profiles')
@Controller('v1/cdp')
export class ProfilesController {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly lookups: IdentityLookupCheck,
    private readonly views: EventViews,
    private readonly unmasking: UnmaskAudit,
  ) {}

  /** Finds the customer with an identifier. */
  @Post('profiles\\:lookup')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:read', { unmasks: true })
  @MayRefuse('not_found')
  @ApiOkResponse({ type: ProfileDto })
  async lookUpProfile(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() _query: UnmaskQuery,
    @JsonBody(IdentityLookupDto, { checked: false }) body: unknown,
    @Req() request: AuthenticatedRequest,
  ): Promise<ProfileDto> {
    const view = await this.profiles.view(tenantId, await this.profiles.lookUp(tenantId, this.lookups.check(body)));
    const { rootId, profileIds } = view.customer;
    const unmasked = await this.unmasking.unmasks(request, { records: [rootId], profiles: profileIds });
    return ProfileDto.of(view, { unmasked });
  }

  /** Lists customers, newest first; merged profiles are part of the surviving one. */
  @Get('profiles')
  @AuthenticateApiKey('profiles:read', { unmasks: true })
  @ApiOkResponse({ type: ProfilePageDto })
  async listProfiles(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: ProfileListQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<ProfilePageDto> {
    const page = await this.profiles.list(tenantId, query.cursor, limitOf(query));
    const records = page.views.map(({ customer }) => customer.rootId);
    const profiles = page.views.flatMap(({ customer }) => customer.profileIds);
    return ProfilePageDto.of(page, { unmasked: await this.unmasking.unmasks(request, { records, profiles }) });
  }

  /** Shows a customer; a merged profile's id leads to the surviving one. */
  @Get('profiles/:id')
  @AuthenticateApiKey('profiles:read', { unmasks: true })
  @ApiOkResponse({ type: ProfileDto })
  async getProfile(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() _query: UnmaskQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<ProfileDto> {
    const view = await this.profiles.view(tenantId, await this.profiles.find(tenantId, id));
    const profiles = view.customer.profileIds;
    return ProfileDto.of(view, { unmasked: await this.unmasking.unmasks(request, { profiles }) });
  }

  /** Lists the events of a customer by `occurredAt`, including those of merged profiles. */
  @Get('profiles/:id/events')
  @AuthenticateApiKey('profiles:read', { unmasks: true })
  @ApiOkResponse({ type: EventPageDto })
  async listProfileEvents(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() query: ProfileTimelineQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<EventPageDto> {
    const { source, eventType } = query;
    const wanted = { span: timelineSpan(query), source, eventType, limit: limitOf(query) };
    const { rootId, profileIds, page } = await this.profiles.timelinePage(tenantId, id, wanted);
    const unmasked = await this.unmasking.unmasks(request, { profiles: profileIds });
    return EventPageDto.of(page, await this.views.of(tenantId, page.events, { unmasked, customerId: rootId }));
  }
}
