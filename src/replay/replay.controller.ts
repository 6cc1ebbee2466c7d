import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { NoFieldsDto } from '../platform/http/body/no-fields.dto';
import { openEntriesFilter } from '../review/dto/open-entries-filter.dto';
import { ReviewViews } from '../review/review-views';
import { BulkReplayService } from './bulk-replay.service';
import { BulkReplayDto, BulkReplayStartedDto, ReviewReplayDto } from './dto/bulk-replay.dto';
import { ReplayDto, ReplayedDto, replayResultDto } from './dto/replay.dto';
import { ReplayService } from './replay.service';

@ApiTags('Review')
@Controller('v1')
export class ReplayController {
  constructor(
    private readonly replays: ReplayService,
    private readonly bulkReplays: BulkReplayService,
    private readonly views: ReviewViews,
  ) {}

  /**
   * Sends the event of an open entry again, with its id and time of receipt. A payload needs its family's write scope.
   */
  @Post('review-entries/:id\\:replay')
  @HttpCode(200)
  @AuthenticateApiKey('review:write', { rate: 'events' })
  @MayRefuse('source_not_allowed', 'entry_not_open')
  @ApiOkResponse({ type: ReplayedDto })
  async replayReviewEntry(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(ReplayDto, { optional: true }) { payload }: ReplayDto,
  ): Promise<ReplayedDto> {
    const result = await this.replays.replay(caller, id, payload);
    return { outcome: replayResultDto(result), reviewEntry: await this.views.show(caller.tenantId, id) };
  }

  /** Starts a replay of all open refusals that match the filter: at most 100,000, within the caller's rate limit. */
  @Post('review-entries\\:replay')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: BulkReplayStartedDto })
  async replayReviewEntries(
    @Caller() caller: Principal,
    @JsonBody(BulkReplayDto) { filter }: BulkReplayDto,
  ): Promise<BulkReplayStartedDto> {
    return { jobId: await this.bulkReplays.start(caller, openEntriesFilter(filter)) };
  }

  /** Shows the progress of a bulk replay. */
  @Get('review-replays/:jobId')
  @AuthenticateApiKey('review:read')
  @ApiOkResponse({ type: ReviewReplayDto })
  async getReviewReplay(@Caller() { tenantId }: Principal, @Param('jobId') jobId: string): Promise<ReviewReplayDto> {
    return ReviewReplayDto.of(await this.bulkReplays.get(tenantId, jobId));
  }

  /** Ends a bulk replay; what it has sent stays. Has no effect on a finished one. */
  @Post('review-replays/:jobId\\:cancel')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: ReviewReplayDto })
  async cancelReviewReplay(
    @Caller() { tenantId }: Principal,
    @Param('jobId') jobId: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<ReviewReplayDto> {
    return ReviewReplayDto.of(await this.bulkReplays.cancel(tenantId, jobId));
  }
}
