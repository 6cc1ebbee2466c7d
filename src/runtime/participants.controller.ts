import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { DEFAULT_APP_ID } from './domain/state-owner';
import { ParticipantStateDto } from './dto/state.dto';
import { ParticipantStateQuery } from './dto/state.query';
import { RuntimeService } from './runtime.service';
import { SubjectPipe } from './subject.pipe';

@ApiTags('Runtime')
@Controller('v1/campaigns/:campaign_id/participants')
export class ParticipantsController {
  constructor(private readonly runtime: RuntimeService) {}

  /** Shows a participant's state to backends and operators, with what the system keeps. */
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
    const { state, system } = await this.runtime.readFor(caller.tenantId, owner);
    return ParticipantStateDto.of(state, system);
  }
}
