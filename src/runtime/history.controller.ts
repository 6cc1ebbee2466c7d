import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { enumFault } from '../platform/errors/fault-words';
import { validationFailed } from '../platform/errors/validation-failed';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { PathNamePipe } from '../platform/http/path-name.pipe';
import { limitOf } from '../platform/pagination/page.query';
import { parseTimeRange } from '../platform/pagination/time-range';
import type { SharedScope } from '../variables/domain/variable';
import { DEFAULT_APP_ID, sharedOwnerId } from './domain/state-owner';
import { HistoryPageDto, type HistoryQuery, ParticipantHistoryQuery, SharedHistoryQuery } from './dto/history.dto';
import { HistoryReader, type HistoryPageQuery } from './history-reader';
import { SubjectPipe } from './subject.pipe';

const SHARED_SCOPES = ['campaign', 'app'] as const satisfies readonly SharedScope[];

/** Explains why values are what they are (contract section 12). */
@ApiTags('Runtime')
@Controller('v1/campaigns/:campaign_id')
export class HistoryController {
  constructor(private readonly history: HistoryReader) {}

  /** Lists the changes of a participant's own values, newest first. */
  @Get('participants/:sub/history')
  @AuthenticateApiKey('state:read')
  @ApiOkResponse({ type: HistoryPageDto })
  async listParticipantHistory(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('sub', SubjectPipe) subject: string,
    @CheckedQuery() query: ParticipantHistoryQuery,
  ): Promise<HistoryPageDto> {
    const key = { subject, scope: 'user', ownerId: campaignId, name: query.name } as const;
    return HistoryPageDto.of(await this.history.list(tenantId, key, pageOf(query)));
  }

  /** Lists the changes of a value that participants share, newest first. */
  @Get('variables/:scope/:name/history')
  @AuthenticateApiKey('state:read')
  @ApiParam({ name: 'scope', enum: SHARED_SCOPES })
  @ApiOkResponse({ type: HistoryPageDto })
  async listSharedHistory(
    @Caller() { tenantId }: Principal,
    @Param('campaign_id', PathNamePipe) campaignId: string,
    @Param('scope') sentScope: string,
    @Param('name', PathNamePipe) name: string,
    @CheckedQuery() query: SharedHistoryQuery,
  ): Promise<HistoryPageDto> {
    const scope = sharedScopeOf(sentScope);
    const ownerId = sharedOwnerId({ campaignId, appId: query.app_id ?? DEFAULT_APP_ID, subject: '' }, scope);
    return HistoryPageDto.of(await this.history.list(tenantId, { subject: '', scope, ownerId, name }, pageOf(query)));
  }
}

function sharedScopeOf(sent: string): SharedScope {
  const scope = SHARED_SCOPES.find((each) => each === sent);
  if (scope === undefined) throw validationFailed([enumFault('scope', SHARED_SCOPES)]);
  return scope;
}

function pageOf(query: HistoryQuery): HistoryPageQuery {
  return { ...parseTimeRange(query), cursor: query.cursor, limit: limitOf(query) };
}
