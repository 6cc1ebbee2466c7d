import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { rangeFault } from '../../platform/errors/fault-words';
import { validationFailed } from '../../platform/errors/validation-failed';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { PathNamePipe } from '../../platform/http/path-name.pipe';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { parseTimeRange } from '../../platform/pagination/time-range';
import { BackfillsService, type BackfillRequest } from './backfills.service';
import type { ReactionBackfill } from './entities/reaction-backfill.entity';
import { BackfillDto, BackfillPageDto, BackfillStartedDto, StartBackfillDto } from './dto/backfill.dto';

@ApiTags('Reactions')
@Controller('v1/campaigns/:campaign_id/reactions')
export class BackfillsController {
  constructor(private readonly backfills: BackfillsService) {}

  /** Applies a reaction to events received before it, once each; with `dryRun`, adds up what would change. */
  @Post(':name\\:backfill')
  @AuthenticateApiKey('reactions:write')
  @HttpCode(202)
  @MayRefuse('reaction_disabled', 'backfill_running')
  @ApiAcceptedResponse({ type: BackfillStartedDto })
  async startBackfill(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
    @JsonBody(StartBackfillDto) body: StartBackfillDto,
  ): Promise<BackfillStartedDto> {
    return { jobId: await this.backfills.start(caller, campaignId, name, requestOf(body)) };
  }

  /** Lists the backfills of a reaction, newest first. */
  @Get(':name/backfills')
  @AuthenticateApiKey('reactions:read')
  @ApiOkResponse({ type: BackfillPageDto })
  async listBackfills(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<BackfillPageDto> {
    const page = await this.backfills.list(caller.tenantId, { campaignId, name }, query.cursor, limitOf(query));
    const withSums = await this.backfills.shownSums(caller, { campaignId, name });
    return { items: page.rows.map((each) => BackfillDto.of(each, withSums(each))), nextCursor: page.nextCursor };
  }

  /** Shows the progress of a backfill. */
  @Get(':name/backfills/:jobId')
  @AuthenticateApiKey('reactions:read')
  @ApiOkResponse({ type: BackfillDto })
  async getBackfill(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
    @Param('jobId') id: string,
  ): Promise<BackfillDto> {
    return this.shown(caller, await this.backfills.get({ tenantId: caller.tenantId, campaignId, name, id }));
  }

  /** Ends a backfill; what it has done stays. */
  @Post(':name/backfills/:jobId\\:cancel')
  @AuthenticateApiKey('reactions:write')
  @HttpCode(200)
  @ApiOkResponse({ type: BackfillDto })
  async cancelBackfill(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
    @Param('jobId') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<BackfillDto> {
    return this.shown(caller, await this.backfills.cancel({ tenantId: caller.tenantId, campaignId, name, id }));
  }

  private async shown(caller: Principal, backfill: ReactionBackfill): Promise<BackfillDto> {
    return BackfillDto.of(backfill, (await this.backfills.shownSums(caller, backfill))(backfill));
  }
}

/** Throws `validation_failed` with every fault of the times. */
function requestOf({ from, to, dryRun = false, eventsPerSecondMax }: StartBackfillDto): BackfillRequest {
  const range = parseTimeRange({ from, to });
  const [start, end] = [range.from ?? 0, range.to ?? 0];
  if (start >= end) throw validationFailed([rangeFault('to', 'later than from')]);
  return { from: start, to: end, isDryRun: dryRun, eventsPerSecondMax: eventsPerSecondMax ?? null };
}
