import { applyDecorators, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateParticipant } from '../platform/auth/authenticate.decorator';
import { CallingParticipant } from '../platform/auth/caller.decorator';
import type { Participant } from '../platform/auth/principal';
import { validationFailed } from '../platform/errors/validation-failed';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { MayRefuse } from '../platform/http/openapi/may-refuse.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { conflictsIn } from './domain/mutation-request';
import type { NamedField } from './domain/state-owner';
import { MutationDto, MutationResultDto } from './dto/mutation.dto';
import { StateDto } from './dto/state.dto';
import { CampaignStateQuery, StateQuery } from './dto/state.query';
import { MutationPipeline } from './mutation-pipeline';
import { answerMutation, MutationRoute, receivedMutation } from './mutation-route';
import { StateService } from './state.service';

/** The paths of the runtime (contract section 8). */
export const RUNTIME_PATHS = ['v1/runtime', 'v1/campaigns/:campaign_id/runtime'] as const;

const ApiRead = (): MethodDecorator =>
  applyDecorators(ApiOkResponse({ type: StateDto }), MayRefuse('context_violation', 'campaign_required'));

/** The state that participants read and change. The campaign is the request's, the token's or the issuer's. */
@ApiTags('Runtime')
@Controller(RUNTIME_PATHS[0])
export class RuntimeController {
  constructor(
    private readonly states: StateService,
    private readonly mutations: MutationPipeline,
  ) {}

  /** Shows the value of every declared variable. */
  @Get('state')
  @AuthenticateParticipant({ rate: 'runtime' })
  @ApiRead()
  async readState(
    @CallingParticipant() participant: Participant,
    @CheckedQuery() query: StateQuery,
  ): Promise<StateDto> {
    return StateDto.of(await this.states.read(participant, campaignsIn(query)));
  }

  /** Changes declared variables, wholly or not at all, and once for each `mutation_id`. */
  @Post('state\\:mutate')
  @MutationRoute('context_violation', 'campaign_required')
  @AuthenticateParticipant({ rate: 'runtime' })
  async mutateState(
    @CallingParticipant() participant: Participant,
    @CheckedQuery() query: StateQuery,
    @JsonBody(MutationDto, { checked: false }) body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MutationResultDto> {
    const received = receivedMutation(body, request);
    return answerMutation(await this.mutations.mutate(participant, campaignsIn(query), received), response);
  }
}

/** The same routes, with the campaign in the path. */
@ApiTags('Runtime')
@Controller(RUNTIME_PATHS[1])
export class CampaignRuntimeController {
  constructor(
    private readonly states: StateService,
    private readonly mutations: MutationPipeline,
  ) {}

  /** Shows the value of every variable that the campaign declares. */
  @Get('state')
  @AuthenticateParticipant({ rate: 'runtime' })
  @ApiRead()
  async readCampaignState(
    @CallingParticipant() participant: Participant,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @CheckedQuery() query: CampaignStateQuery,
  ): Promise<StateDto> {
    return StateDto.of(await this.states.read(participant, [inPath(campaignId), ...campaignsIn(query)]));
  }

  /** Changes variables that the campaign declares, wholly or not at all, and once for each `mutation_id`. */
  @Post('state\\:mutate')
  @MutationRoute('context_violation', 'campaign_required')
  @AuthenticateParticipant({ rate: 'runtime' })
  async mutateCampaignState(
    @CallingParticipant() participant: Participant,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @CheckedQuery() query: CampaignStateQuery,
    @JsonBody(MutationDto, { checked: false }) body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MutationResultDto> {
    const named = [inPath(campaignId), ...campaignsIn(query)];
    return answerMutation(await this.mutations.mutate(participant, named, receivedMutation(body, request)), response);
  }
}

function inPath(campaignId: string): NamedField {
  return { field: 'campaign_id', value: campaignId };
}

/**
 * The campaign that a query names, in either spelling; at most one. Throws `validation_failed` when the spellings
 * differ.
 */
function campaignsIn(query: StateQuery): NamedField[] {
  const named = (['campaign_id', 'campaignId'] as const).flatMap((field): NamedField[] => {
    const value = query[field];
    return value === undefined ? [] : [{ field, value }];
  });
  const conflicts = conflictsIn(named);
  if (conflicts.length > 0) throw validationFailed(conflicts);
  return named.slice(0, 1);
}
