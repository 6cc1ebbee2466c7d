import { Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiDryRun } from '../ingest/http/dry-run';
import {
  AcceptedResultDto,
  BatchResultDto,
  DuplicateResultDto,
  type ItemResultDto,
} from '../ingest/http/dto/ingest-result.dto';
import { IngestController } from '../ingest/http/ingest-controller';
import { IngestMetrics } from '../ingest/http/ingest-metrics';
import { IngestService } from '../ingest/ingest.service';
import { RefusedRequestFilter } from '../ingest/http/refused-request.filter';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { RateLimits } from '../platform/rate-limit/rate-limits';
import { CdpContract } from './cdp-contract';
import { CdpEventBatchDto, CdpEventDto } from './dto/cdp-event.dto';

@ApiTags('Ingest')
@Controller('v1/cdp/events')
@UseFilters(RefusedRequestFilter)
export class CdpEventsController extends IngestController {
  constructor(
    ingest: IngestService,
    limits: RateLimits,
    figures: IngestMetrics,
    private readonly contract: CdpContract,
  ) {
    super(ingest, limits, figures, 'cdp');
  }

  /** Takes one customer event, once however often it is sent. */
  @Post()
  @ApiDryRun()
  @AuthenticateApiKey('cdp-events:write', { rate: 'events' })
  @MayRefuse('source_not_allowed', 'identity_conflict', 'profile_erased')
  @ApiAcceptedResponse({ type: AcceptedResultDto })
  @ApiOkResponse({ type: DuplicateResultDto })
  takeCdpEvent(
    @Caller() caller: Principal,
    @JsonBody(CdpEventDto, { limit: 'single', checked: false }) _event: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ItemResultDto> {
    return this.takeOne(caller, request, response, (sent) => this.contract.check(caller.tenantId, sent));
  }

  /** Takes a batch of customer events, each by itself. */
  @Post('batch')
  @HttpCode(200)
  @ApiDryRun()
  @AuthenticateApiKey('cdp-events:write', { rate: 'events' })
  @MayRefuse('batch_too_large')
  @ApiOkResponse({ type: BatchResultDto })
  takeCdpEvents(
    @Caller() caller: Principal,
    @JsonBody(CdpEventBatchDto, { limit: 'batch', batchOf: 'items' }) batch: CdpEventBatchDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResultDto> {
    return this.takeAll(caller, request, response, batch.items, (sent) => this.contract.check(caller.tenantId, sent));
  }
}
