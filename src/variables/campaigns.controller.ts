import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { CampaignReader } from './campaign-reader';
import { CampaignPageDto } from './dto/campaign.dto';

@ApiTags('Variables')
@Controller('v1/campaigns')
export class CampaignsController {
  constructor(private readonly campaigns: CampaignReader) {}

  /** Lists the campaigns of the workspace, newest first, also those whose variables are all archived. */
  @Get()
  @AuthenticateApiKey('variables:read')
  @ApiOkResponse({ type: CampaignPageDto })
  async listCampaigns(@Caller() { tenantId }: Principal, @CheckedQuery() query: PageQuery): Promise<CampaignPageDto> {
    return CampaignPageDto.of(await this.campaigns.list(tenantId, query.cursor, limitOf(query)));
  }
}
