import { Injectable } from '@nestjs/common';
import { PersonalProperties } from '../platform/masking/personal-properties';
import { ReviewEntryDto } from './dto/review-entry.dto';
import type { ReviewEntry } from './entities/review-entry.entity';
import { ReviewReader, type ListedEntry } from './review-reader';

export interface ViewOptions {
  readonly unmasked: boolean;
}

/** Entries as they are shown: masked, unless `unmasked`, which only whoever has asked `UnmaskAudit` may say. */
@Injectable()
export class ReviewViews {
  constructor(
    private readonly entries: ReviewReader,
    private readonly personal: PersonalProperties,
  ) {}

  /** Throws `not_found`. */
  async show(tenantId: string, id: string, options: ViewOptions = { unmasked: false }): Promise<ReviewEntryDto> {
    return this.of(tenantId, await this.entries.get(tenantId, id), options);
  }

  list(tenantId: string, entries: readonly ListedEntry[], options: ViewOptions): Promise<ReviewEntryDto[]> {
    return Promise.all(entries.map(({ entry, isCut }) => this.of(tenantId, entry, options, isCut)));
  }

  async of(tenantId: string, entry: ReviewEntry, { unmasked }: ViewOptions, isCut = false): Promise<ReviewEntryDto> {
    const personal = unmasked ? null : await this.personal.namesOf(tenantId, entry.eventType);
    return ReviewEntryDto.of(entry, personal, isCut);
  }
}
