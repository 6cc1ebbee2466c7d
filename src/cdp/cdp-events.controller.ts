import { Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import {
  AcceptedResultDto,
  BatchResultDto,
  DuplicateResultDto,
  type ItemResultDto,
} from '../ingest/http/dto/ingest-result.dto';
import { ApiDryRun, IngestController, type ReceivedBatch } from '../ingest/http/ingest-controller';
import { IngestMetrics } from '../ingest/http/ingest-metrics';
import { IngestPipeline } from '../ingest/pipeline';
import { RefusedRequestFilter } from '../ingest/http/refused-request.filter';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import type { ReceivedJson } from '../platform/http/body/json-body';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { RateLimits } from '../platform/rate-limit/rate-limits';
import { CdpEventBatchDto, CdpEventDto } from './dto/cdp-event.dto';

@ApiTags('Ingest')
@Controller('v1/cdp/events')
@UseFilters(RefusedRequestFilter)
export class CdpEventsController extends IngestController {
  constructor(pipeline: IngestPipeline, limits: RateLimits, metrics: IngestMetrics) {
    super(pipeline, limits, metrics, 'cdp');
  }

  /** Takes one customer event, once however often it is sent. */
  @Post()
  @ApiDryRun()
  @AuthenticateApiKey('cdp-events:write', { rate: 'events', readsQuery: true })
  @MayRefuse('source_not_allowed', 'identity_conflict', 'profile_erased')
  @ApiAcceptedResponse({ type: AcceptedResultDto })
  @ApiOkResponse({ type: DuplicateResultDto })
  takeCdpEvent(
    @Caller() caller: Principal,
    @JsonBody(CdpEventDto, { limit: 'single', checked: false, withText: true }) event: ReceivedJson,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ItemResultDto> {
    return this.takeOne(caller, request, response, event);
  }

  /** Takes a batch of customer events, each by itself. */
  @Post('batch')
  @HttpCode(200)
  @ApiDryRun()
  @AuthenticateApiKey('cdp-events:write', { rate: 'events', readsQuery: true })
  @MayRefuse('batch_too_large')
  @ApiOkResponse({ type: BatchResultDto })
  takeCdpEvents(
    @Caller() caller: Principal,
    @JsonBody(CdpEventBatchDto, { limit: 'batch', batchOf: 'items', withText: true }) batch: ReceivedBatch,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResultDto> {
    return this.takeAll(caller, request, response, batch);
  }
}
