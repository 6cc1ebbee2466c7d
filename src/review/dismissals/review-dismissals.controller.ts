import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../../platform/auth/authenticate.decorator';
import { Caller } from '../../platform/auth/caller.decorator';
import type { Principal } from '../../platform/auth/principal';
import { JsonBody } from '../../platform/http/body/json-body.decorator';
import { NoFieldsDto } from '../../platform/http/body/no-fields.dto';
import { openEntriesFilter } from '../dto/open-entries-filter.dto';
import { BulkDismissalDto, BulkDismissalStartedDto, ReviewDismissalDto } from './dto/review-dismissal.dto';
import { ReviewDismissalsService } from './review-dismissals.service';

@ApiTags('Review')
@Controller('v1')
export class ReviewDismissalsController {
  constructor(private readonly dismissals: ReviewDismissalsService) {}

  /** Starts to close all open entries that match the filter now. Entries whose problem occurs later stay open. */
  @Post('review-entries\\:dismiss')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: BulkDismissalStartedDto })
  async dismissReviewEntries(
    @Caller() { tenantId, credentialId }: Principal,
    @JsonBody(BulkDismissalDto) { filter, note }: BulkDismissalDto,
  ): Promise<BulkDismissalStartedDto> {
    return { jobId: await this.dismissals.start(tenantId, credentialId, openEntriesFilter(filter), note ?? null) };
  }

  /** Shows the progress of a bulk dismissal. */
  @Get('review-dismissals/:jobId')
  @AuthenticateApiKey('review:read')
  @ApiOkResponse({ type: ReviewDismissalDto })
  async getReviewDismissal(
    @Caller() { tenantId }: Principal,
    @Param('jobId') jobId: string,
  ): Promise<ReviewDismissalDto> {
    return ReviewDismissalDto.of(await this.dismissals.get(tenantId, jobId));
  }

  /** Ends a bulk dismissal; what it has closed stays closed. Has no effect on a finished one. */
  @Post('review-dismissals/:jobId\\:cancel')
  @HttpCode(200)
  @AuthenticateApiKey('review:write')
  @ApiOkResponse({ type: ReviewDismissalDto })
  async cancelReviewDismissal(
    @Caller() { tenantId }: Principal,
    @Param('jobId') jobId: string,
    @JsonBody(NoFieldsDto, { optional: true }) _body: NoFieldsDto,
  ): Promise<ReviewDismissalDto> {
    return ReviewDismissalDto.of(await this.dismissals.cancel(tenantId, jobId));
  }
}
