import { applyDecorators, Controller, Get, HttpCode, Param, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateParticipant } from '../platform/auth/authenticate.decorator';
import { CallingParticipant } from '../platform/auth/caller.decorator';
import type { Participant } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { ApiMutation } from './api-mutation.decorator';
import { MutationDto, MutationResultDto } from './dto/mutation.dto';
import { StateDto } from './dto/state.dto';
import { CampaignStateQuery, StateQuery } from './dto/state.query';
import { RefusedMutationFilter } from './refused-mutation.filter';
import { RuntimeRequests } from './runtime-requests';

/** Where the runtime is served (contract section 8). */
export const RUNTIME_MOUNTS = ['v1/runtime', 'v1/campaigns/:campaign_id/runtime'] as const;

const ApiRead = (): MethodDecorator =>
  applyDecorators(ApiOkResponse({ type: StateDto }), MayRefuse('context_violation', 'campaign_required'));

/** What participants read and change; the campaign is the request's, the token's or the issuer's. */
@ApiTags('Runtime')
@Controller(RUNTIME_MOUNTS[0])
export class RuntimeController {
  constructor(private readonly requests: RuntimeRequests) {}

  /** Shows the value of every declared variable. */
  @Get('state')
  @AuthenticateParticipant({ rate: 'runtime' })
  @ApiRead()
  readState(@CallingParticipant() participant: Participant, @CheckedQuery() query: StateQuery): Promise<StateDto> {
    return this.requests.read(participant, query, undefined);
  }

  /** Changes declared variables, wholly or not at all, and once for each `mutation_id`. */
  @Post('state\\:mutate')
  @HttpCode(200)
  @ApiMutation('context_violation', 'campaign_required')
  @UseFilters(RefusedMutationFilter)
  @AuthenticateParticipant({ rate: 'runtime' })
  mutateState(
    @CallingParticipant() participant: Participant,
    @JsonBody(MutationDto, { checked: false }) body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MutationResultDto> {
    return this.requests.mutate(participant, body, undefined, { request, response });
  }
}

/** The same, with the campaign in the address. */
@ApiTags('Runtime')
@Controller(RUNTIME_MOUNTS[1])
export class CampaignRuntimeController {
  constructor(private readonly requests: RuntimeRequests) {}

  /** Shows the value of every variable that the campaign declares. */
  @Get('state')
  @AuthenticateParticipant({ rate: 'runtime' })
  @ApiRead()
  readCampaignState(
    @CallingParticipant() participant: Participant,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @CheckedQuery() query: CampaignStateQuery,
  ): Promise<StateDto> {
    return this.requests.read(participant, query, campaignId);
  }

  /** Changes variables that the campaign declares, wholly or not at all, and once for each `mutation_id`. */
  @Post('state\\:mutate')
  @HttpCode(200)
  @ApiMutation('context_violation', 'campaign_required')
  @UseFilters(RefusedMutationFilter)
  @AuthenticateParticipant({ rate: 'runtime' })
  mutateCampaignState(
    @CallingParticipant() participant: Participant,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @JsonBody(MutationDto, { checked: false }) body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MutationResultDto> {
    return this.requests.mutate(participant, body, campaignId, { request, response });
  }
}
