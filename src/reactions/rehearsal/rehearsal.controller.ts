import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { validationFailed } from '../../platform/errors/validation-failed';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { PathNamePipe } from '../../platform/http/path-name.pipe';
import { parseRehearsal } from './domain/rehearsal-request';
import { RehearsalDto, TestReactionDto } from './dto/rehearsal.dto';
import { RehearsalService } from './rehearsal.service';

@ApiTags('Reactions')
@Controller('v1/campaigns/:campaign_id')
export class RehearsalController {
  constructor(private readonly rehearsals: RehearsalService) {}

  /** Shows what a reaction would do with events, each by itself, and why. Writes nothing. */
  @Post('reactions\\:test')
  @AuthenticateApiKey('reactions:read')
  @HttpCode(200)
  @ApiOkResponse({ type: RehearsalDto })
  async testReaction(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @JsonBody(TestReactionDto, { checked: false }) body: unknown,
  ): Promise<RehearsalDto> {
    const parsed = parseRehearsal(body);
    if ('faults' in parsed) throw validationFailed(parsed.faults);
    return RehearsalDto.of(await this.rehearsals.run(caller, campaignId, parsed.request));
  }
}
