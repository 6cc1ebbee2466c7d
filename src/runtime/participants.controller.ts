import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { DEFAULT_APP_ID } from './domain/state-owner';
import { MutationDto, type MutationResultDto } from './dto/mutation.dto';
import { ParticipantPageDto } from './dto/participant.dto';
import { ParticipantStateDto } from './dto/state.dto';
import { ParticipantStateQuery } from './dto/state.query';
import { MutationPipeline } from './mutation-pipeline';
import { answerMutation, MutationRoute, receivedMutation } from './mutation-route';
import { StateService } from './state.service';
import { SubjectPipe } from './subject.pipe';

@ApiTags('Runtime')
@Controller('v1/campaigns/:campaign_id/participants')
export class ParticipantsController {
  constructor(
    private readonly states: StateService,
    private readonly mutations: MutationPipeline,
  ) {}

  /** Lists the participants who have `user` values in a campaign, newest first, with these values. */
  @Get()
  @AuthenticateApiKey('state:read')
  @ApiOkResponse({ type: ParticipantPageDto })
  async listParticipants(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<ParticipantPageDto> {
    return ParticipantPageDto.of(await this.states.list(tenantId, campaignId, query.cursor, limitOf(query)));
  }

  /** Shows a participant's state to backends and operators, with the system fields. */
  @Get(':sub/state')
  @AuthenticateApiKey('state:read')
  @ApiOkResponse({ type: ParticipantStateDto })
  async readParticipantState(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('sub', SubjectPipe) subject: string,
    @CheckedQuery() query: ParticipantStateQuery,
  ): Promise<ParticipantStateDto> {
    const owner = { campaignId, subject, appId: query.app_id ?? DEFAULT_APP_ID };
    const { state, system } = await this.states.readFor(caller.tenantId, owner);
    return ParticipantStateDto.of(state, system);
  }

  /** Changes a participant's state for backends and operators, by the same rules as for participants. */
  @Post(':sub/state\\:mutate')
  @MutationRoute()
  @AuthenticateApiKey('state:write', { rate: 'events' })
  async mutateParticipantState(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('sub', SubjectPipe) subject: string,
    @JsonBody(MutationDto, { checked: false }) body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MutationResultDto> {
    const received = receivedMutation(body, request);
    return answerMutation(await this.mutations.mutateFor(caller, { campaignId, subject }, received), response);
  }
}
