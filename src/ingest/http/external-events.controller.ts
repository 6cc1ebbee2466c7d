import { Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import type { ReceivedJson } from '../../platform/http/body/json-body';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { RateLimits } from '../../platform/rate-limit/rate-limits';
import { ExternalEventBatchDto, ExternalEventDto } from './dto/external-event.dto';
import { AcceptedResultDto, BatchResultDto, DuplicateResultDto, type ItemResultDto } from './dto/ingest-result.dto';
import { ApiDryRun, IngestController, type ReceivedBatch } from './ingest-controller';
import { IngestMetrics } from './ingest-metrics';
import { IngestPipeline } from '../pipeline';
import { RefusedRequestFilter } from './refused-request.filter';

@ApiTags('Ingest')
@Controller('v1')
@UseFilters(RefusedRequestFilter)
export class ExternalEventsController extends IngestController {
  constructor(pipeline: IngestPipeline, limits: RateLimits, metrics: IngestMetrics) {
    super(pipeline, limits, metrics, 'external');
  }

  /** Takes one external event, once however often it is sent. */
  @Post('external-events')
  @ApiDryRun()
  @AuthenticateApiKey('external-events:write', { orSignature: true, rate: 'events', readsQuery: true })
  @MayRefuse('source_not_allowed', 'identity_conflict', 'profile_erased')
  @ApiAcceptedResponse({ type: AcceptedResultDto })
  @ApiOkResponse({ type: DuplicateResultDto })
  takeExternalEvent(
    @Caller() caller: Principal,
    @JsonBody(ExternalEventDto, { limit: 'single', checked: false, withText: true }) event: ReceivedJson,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ItemResultDto> {
    return this.takeOne(caller, request, response, event);
  }

  /** Takes a batch of external events, each by itself. */
  @Post('external-events\\:batch')
  @HttpCode(200)
  @ApiDryRun()
  @AuthenticateApiKey('external-events:write', { orSignature: true, rate: 'events', readsQuery: true })
  @MayRefuse('batch_too_large')
  @ApiOkResponse({ type: BatchResultDto })
  takeExternalEvents(
    @Caller() caller: Principal,
    @JsonBody(ExternalEventBatchDto, { limit: 'batch', batchOf: 'items', withText: true }) batch: ReceivedBatch,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResultDto> {
    return this.takeAll(caller, request, response, batch);
  }
}
