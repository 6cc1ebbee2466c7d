import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { limitOf, PageQuery } from '../../platform/pagination/page.query';
import { parseTimeRange } from '../../platform/pagination/time-range';
import {
  StartWebhookReplayDto,
  WebhookReplayDto,
  WebhookReplayPageDto,
  WebhookReplayStartedDto,
} from './dto/webhook-replay.dto';
import { WebhookReplaysService } from './webhook-replays.service';

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class WebhookReplaysController {
  constructor(private readonly replays: WebhookReplaysService) {}

  /** Delivers stored events of a time range that fit the rules of an endpoint, also those that it got before. */
  @Post(':id\\:replay')
  @AuthenticateApiKey('webhooks:write')
  @HttpCode(202)
  @MayRefuse('replay_running')
  @ApiAcceptedResponse({ type: WebhookReplayStartedDto })
  async startWebhookReplay(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @JsonBody(StartWebhookReplayDto) body: StartWebhookReplayDto,
  ): Promise<WebhookReplayStartedDto> {
    const { from = 0, to = 0 } = parseTimeRange(body);
    return { jobId: await this.replays.start(caller, id, { from, to }) };
  }

  /** Lists the replays of an endpoint, newest first. */
  @Get(':id/replays')
  @AuthenticateApiKey('webhooks:read')
  @ApiOkResponse({ type: WebhookReplayPageDto })
  async listWebhookReplays(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<WebhookReplayPageDto> {
    const page = await this.replays.list(tenantId, id, query.cursor, limitOf(query));
    return { items: page.rows.map((replay) => WebhookReplayDto.of(replay)), nextCursor: page.nextCursor };
  }

  /** Shows the progress of a replay. */
  @Get(':id/replays/:jobId')
  @AuthenticateApiKey('webhooks:read')
  @ApiOkResponse({ type: WebhookReplayDto })
  async getWebhookReplay(
    @Caller() { tenantId }: Principal,
    @Param('id') endpointId: string,
    @Param('jobId') id: string,
  ): Promise<WebhookReplayDto> {
    return WebhookReplayDto.of(await this.replays.get({ tenantId, endpointId, id }));
  }

  /** Ends a replay; what it has queued is delivered. */
  @Post(':id/replays/:jobId\\:cancel')
  @AuthenticateApiKey('webhooks:write')
  @HttpCode(200)
  @ApiOkResponse({ type: WebhookReplayDto })
  async cancelWebhookReplay(
    @Caller() { tenantId }: Principal,
    @Param('id') endpointId: string,
    @Param('jobId') id: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<WebhookReplayDto> {
    return WebhookReplayDto.of(await this.replays.cancel({ tenantId, endpointId, id }));
  }
}
