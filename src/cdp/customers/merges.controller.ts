import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { MergesService } from '../../identity/merges.service';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { idPageStart } from '../../platform/pagination/id-key';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { MergeDto, MergePageDto } from './dto/merge.dto';
import { ProfilesService } from './profiles.service';

@ApiTags('Profiles')
@Controller('v1/cdp')
export class MergesController {
  constructor(
    private readonly profiles: ProfilesService,
    private readonly merges: MergesService,
  ) {}

  /** Lists the merges of a customer, newest first, including undone ones. */
  @Get('profiles/:id/merges')
  @AuthenticateApiKey('profiles:read')
  @ApiOkResponse({ type: MergePageDto })
  async listProfileMerges(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<MergePageDto> {
    const start = idPageStart(query.cursor);
    const { profileIds } = await this.profiles.find(tenantId, id);
    const { rows, nextCursor } = await this.merges.list(tenantId, profileIds, start, limitOf(query));
    return { items: rows.map((merge) => MergeDto.of(merge)), nextCursor };
  }

  /** Undoes a merge for good: the two customers never merge automatically again. Idempotent. */
  @Post('merges/:id\\:undo')
  @HttpCode(200)
  @AuthenticateApiKey('profiles:write')
  @ApiOkResponse({ type: MergeDto })
  async undoMerge(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<MergeDto> {
    return MergeDto.of(await this.merges.undo(tenantId, id));
  }
}
