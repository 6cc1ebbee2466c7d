import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller, type AuthenticatedRequest } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/values/clock';
import { CheckedQuery } from '../platform/http/checked-query.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { UnmaskAudit } from '../platform/auth/unmask-audit';
import { UnmaskQuery } from '../platform/auth/unmask.query';
import { limitOf } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import { DismissDto, ReviewEntryDto, ReviewPageDto } from './dto/review-entry.dto';
import { ReviewQuery, ReviewSummaryQuery } from './dto/review-entry.query';
import { ReviewSummaryDto } from './dto/review-summary.dto';
import { ReviewReader } from './review-reader';
import { ReviewResolutions } from './review-resolutions';
import { ReviewSummary } from './review-summary';
import { ReviewViews } from './review-views';

@ApiTags('Review')
@Controller('v1')
export class ReviewController {
  constructor(
    private readonly entries: ReviewReader,
    private readonly views: ReviewViews,
    private readonly summary: ReviewSummary,
    private readonly resolutions: ReviewResolutions,
    private readonly unmasking: UnmaskAudit,
    private readonly clock: Clock,
  ) {}

  /** Lists problems, newest first; of long payloads the beginning. */
  @Get('review-entries')
  @AuthenticateApiKey('review:read', { unmasks: true })
  @ApiOkResponse({ type: ReviewPageDto })
  async listReviewEntries(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() query: ReviewQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<ReviewPageDto> {
    const { rows, nextCursor } = await this.entries.list(tenantId, query, pageStart(query.cursor), limitOf(query));
    const ids = rows.map(({ entry }) => entry.id);
    const unmasked = await this.unmasking.unmasks(request, { records: ids, profiles: [] });
    return { items: await this.views.list(tenantId, rows, { unmasked }), nextCursor };
  }

  /** Counts the problems that match, by reason, source and event type. */
  @Get('review-entries\\:summary')
  @AuthenticateApiKey('review:read')
  @ApiOkResponse({ type: ReviewSummaryDto })
  async summarizeReviewEntries(
    @Caller() { tenantId }: Principal,
    @CheckedQuery() { status = 'open', ...filter }: ReviewSummaryQuery,
  ): Promise<ReviewSummaryDto> {
    return ReviewSummaryDto.of(status, await this.summary.count(tenantId, { status, ...filter }));
  }

  /** Shows one problem with its payload, up to 262,144 characters of it. */
  @Get('review-entries/:id')
  @AuthenticateApiKey('review:read', { unmasks: true })
  @ApiOkResponse({ type: ReviewEntryDto })
  async getReviewEntry(
    @Caller() { tenantId }: Principal,
    @Param('id') id: string,
    @CheckedQuery() _query: UnmaskQuery,
    @Req() request: AuthenticatedRequest,
  ): Promise<ReviewEntryDto> {
    const entry = await this.entries.getShown(tenantId, id);
    return this.views.of(tenantId, entry, { unmasked: await this.unmasking.unmasks(request, { profiles: [] }) });
  }

  /** Closes an open entry that needs no action. Has no effect on a closed entry. */
  @Post('review-entries/:id\\:dismiss')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: ReviewEntryDto })
  async dismissReviewEntry(
    @Caller() { tenantId, credentialId }: Principal,
    @Param('id') id: string,
    @JsonBody(DismissDto, { optional: true }) { note }: DismissDto,
  ): Promise<ReviewEntryDto> {
    const { entry } = await this.entries.getShown(tenantId, id);
    await this.resolutions.dismiss(tenantId, entry.id, {
      action: 'dismissed',
      at: this.clock.now().toISOString(),
      by: credentialId,
      ...(note === undefined ? {} : { note }),
    });
    return this.views.show(tenantId, entry.id);
  }
}
