import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticateApiKey } from '../platform/auth/authenticate.decorator';
import { Caller } from '../platform/auth/caller.decorator';
import type { Principal } from '../platform/auth/principal';
import { DomainError } from '../platform/errors/domain-error';
import { isUuid } from '../platform/ids/uuid';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { limitOf } from '../platform/pagination/page.query';
import { pageStart } from '../platform/pagination/time-key';
import { ReviewEntryDto, ReviewPageDto } from './dto/review-entry.dto';
import { ReviewQuery } from './dto/review-entry.query';
import type { ReviewEntry } from './entities/review-entry.entity';
import { ReviewReader } from './review-reader';

@ApiTags('Review')
@Controller('v1/review-entries')
export class ReviewController {
  constructor(
    private readonly entries: ReviewReader,
    private readonly personal: PersonalProperties,
  ) {}

  /** Lists what went wrong, the newest problem first. */
  @Get()
  @AuthenticateApiKey('review:read')
  @ApiOkResponse({ type: ReviewPageDto })
  async listReviewEntries(@Caller() { tenantId }: Principal, @Query() query: ReviewQuery): Promise<ReviewPageDto> {
    const page = await this.entries.list(tenantId, query, pageStart(query.cursor), limitOf(query));
    return {
      items: await Promise.all(page.entries.map((entry) => this.view(tenantId, entry))),
      nextCursor: page.nextCursor,
    };
  }

  /** Shows one problem. */
  @Get(':id')
  @AuthenticateApiKey('review:read')
  @ApiOkResponse({ type: ReviewEntryDto })
  async getReviewEntry(@Caller() { tenantId }: Principal, @Param('id') id: string): Promise<ReviewEntryDto> {
    const entry = isUuid(id) ? await this.entries.find(tenantId, id) : null;
    if (entry === null) throw new DomainError('not_found', 'There is no review entry with this id in this workspace.');
    return this.view(tenantId, entry);
  }

  private async view(tenantId: string, entry: ReviewEntry): Promise<ReviewEntryDto> {
    return ReviewEntryDto.of(entry, await this.personal.namesOf(tenantId, entry.eventType));
  }
}
