import { Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { MayRefuse } from '../../platform/http/openapi/may-refuse.decorator';
import { RateLimits } from '../../platform/rate-limit/rate-limits';
import { ApiDryRun } from './dry-run';
import { ExternalEventBatchDto, ExternalEventDto } from './dto/external-event.dto';
import { AcceptedResultDto, BatchResultDto, DuplicateResultDto, type ItemResultDto } from './dto/ingest-result.dto';
import { ExternalEventCheck } from '../parse/external-event-check';
import { IngestController } from './ingest-controller';
import { IngestMetrics } from './ingest-metrics';
import { IngestService } from '../ingest.service';
import { RefusedRequestFilter } from './refused-request.filter';

@ApiTags('Ingest')
@Controller('v1')
@UseFilters(RefusedRequestFilter)
export class ExternalEventsController extends IngestController {
  constructor(
    ingest: IngestService,
    limits: RateLimits,
    figures: IngestMetrics,
    private readonly events: ExternalEventCheck,
  ) {
    super(ingest, limits, figures, 'external');
  }

  /** Takes one external event, once however often it is sent. */
  @Post('external-events')
  @ApiDryRun()
  @AuthenticateApiKey('external-events:write', { orSignature: true, rate: 'events' })
  @MayRefuse('source_not_allowed', 'identity_conflict', 'profile_erased')
  @ApiAcceptedResponse({ type: AcceptedResultDto })
  @ApiOkResponse({ type: DuplicateResultDto })
  takeExternalEvent(
    @Caller() caller: Principal,
    @JsonBody(ExternalEventDto, { limit: 'single', checked: false }) _event: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ItemResultDto> {
    return this.takeOne(caller, request, response, (sent) => this.events.check(sent));
  }

  /** Takes a batch of external events, each by itself. */
  @Post('external-events\\:batch')
  @HttpCode(200)
  @ApiDryRun()
  @AuthenticateApiKey('external-events:write', { orSignature: true, rate: 'events' })
  @MayRefuse('batch_too_large')
  @ApiOkResponse({ type: BatchResultDto })
  takeExternalEvents(
    @Caller() caller: Principal,
    @JsonBody(ExternalEventBatchDto, { limit: 'batch', batchOf: 'items' }) batch: ExternalEventBatchDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResultDto> {
    return this.takeAll(caller, request, response, batch.items, (sent) => this.events.check(sent));
  }
}
