import { Injectable } from '@nestjs/common';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { ReviewEntryDto } from './dto/review-entry.dto';
import type { ReviewEntry } from './entities/review-entry.entity';
import { ReviewReader, type ListedEntry } from './review-reader';

/** Entries as they are shown: masked. */
@Injectable()
export class ReviewViews {
  constructor(
    private readonly entries: ReviewReader,
    private readonly personal: PersonalProperties,
  ) {}

  /** Throws `not_found`. */
  async show(tenantId: string, id: string): Promise<ReviewEntryDto> {
    return this.view(tenantId, await this.entries.get(tenantId, id), false);
  }

  list(tenantId: string, entries: readonly ListedEntry[]): Promise<ReviewEntryDto[]> {
    return Promise.all(entries.map(({ entry, isCut }) => this.view(tenantId, entry, isCut)));
  }

  private async view(tenantId: string, entry: ReviewEntry, isCut: boolean): Promise<ReviewEntryDto> {
    return ReviewEntryDto.of(entry, await this.personal.namesOf(tenantId, entry.eventType), isCut);
  }
}
