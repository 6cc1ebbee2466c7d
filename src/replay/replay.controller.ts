import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ingestResultDto } from '../ingest/dto/ingest-result.dto';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/json-body.decorator';
import { ReviewViews } from '../review/review-views';
import { ReplayDto, ReplayedDto } from './dto/replay.dto';
import { ReplayService } from './replay.service';

@ApiTags('Review')
@Controller('v1')
export class ReplayController {
  constructor(
    private readonly replays: ReplayService,
    private readonly views: ReviewViews,
  ) {}

  /** Sends the event of an entry again, as it came or corrected, under its own id and time of receipt. */
  @Post('review-entries/:id\\:replay')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: ReplayedDto })
  async replayReviewEntry(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(ReplayDto, { optional: true }) { payload }: ReplayDto,
  ): Promise<ReplayedDto> {
    const result = await this.replays.replay(caller, id, payload);
    return { outcome: ingestResultDto(result), reviewEntry: await this.views.show(caller.tenantId, id) };
  }
}
