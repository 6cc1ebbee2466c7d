import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { CampaignStates } from '../../runtime/campaign-states';
import { CampaignStatePageDto } from './dto/campaign-state.dto';
import { ProfilesService } from './profiles.service';

@ApiTags('Profiles')
@Controller('v1/cdp/profiles/:id/campaigns')
export class CampaignStatesController {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly states: CampaignStates,
  ) {}

  /** Lists the campaigns in which a customer (the EXTERNAL identifier) has `user` values, with these values, by campaign. */
  @Get()
  @AuthenticateApiKey('profiles:read', { and: ['state:read'] })
  @ApiOkResponse({ type: CampaignStatePageDto })
  async listProfileCampaigns(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() { cursor, ...query }: PageQuery,
  ): Promise<CampaignStatePageDto> {
    const { identifiers } = await this.profiles.find(tenantId, id);
    const subject = identifiers.find(({ kind }) => kind === 'EXTERNAL')?.value ?? null;
    return CampaignStatePageDto.of(await this.states.list(tenantId, subject, cursor, limitOf(query)));
  }
}
