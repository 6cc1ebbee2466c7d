import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { limitOf, PageQuery } from '../platform/pagination/page.query';
import { DefinedReactionDto, DefineReactionDto, ReactionDto, ReactionPageDto } from './dto/reaction.dto';
import { ReactionsService } from './reactions.service';

@ApiTags('Reactions')
@Controller('v1/campaigns/:campaign_id')
export class ReactionsController {
  constructor(private readonly reactions: ReactionsService) {}

  /** Defines how a campaign reacts to events from now on. Reading personal data requires `pii:read`, too. */
  @Post('reactions\\:define')
  @AuthenticateApiKey('reactions:write')
  @HttpCode(200)
  @ApiOkResponse({ type: DefinedReactionDto })
  async defineReaction(
    @Caller() caller: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @JsonBody(DefineReactionDto, { checked: false }) body: unknown,
  ): Promise<DefinedReactionDto> {
    const { reaction, warnings } = await this.reactions.define(caller, campaignId, body);
    return { status: 'defined', reaction: ReactionDto.of(reaction), warnings };
  }

  /** Lists the reactions of a campaign, newest first. */
  @Get('reactions')
  @AuthenticateApiKey('reactions:read')
  @ApiOkResponse({ type: ReactionPageDto })
  async listReactions(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @CheckedQuery() query: PageQuery,
  ): Promise<ReactionPageDto> {
    const { rows, nextCursor } = await this.reactions.list(tenantId, campaignId, query.cursor, limitOf(query));
    return { items: rows.map((reaction) => ReactionDto.of(reaction)), nextCursor };
  }

  /** Shows one reaction. */
  @Get('reactions/:name')
  @AuthenticateApiKey('reactions:read')
  @ApiOkResponse({ type: ReactionDto })
  async getReaction(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
  ): Promise<ReactionDto> {
    return ReactionDto.of(await this.reactions.get(tenantId, campaignId, name));
  }

  /** Deletes a reaction; the values that it changed stay. */
  @Delete('reactions/:name')
  @AuthenticateApiKey('reactions:write')
  @ApiOkResponse({ type: ReactionDto })
  async deleteReaction(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('name', PathNamePipe) name: string,
  ): Promise<ReactionDto> {
    return ReactionDto.of(await this.reactions.delete(tenantId, campaignId, name));
  }
}
