import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../platform/values/time-slice';
import { namesFrom, PersonalProperties } from '../platform/privacy/personal-properties';
import type { StoredEntry } from './domain/review-entry';
import { maskedPayload, ReviewEntryDto } from './dto/review-entry.dto';
import { ReviewReader, type ShownEntry } from './review-reader';

export interface ReviewViewOptions {
  readonly unmasked: boolean;
}

/**
 * Makes the views of entries: masked unless `unmasked`. A caller that passes `unmasked` has asked `UnmaskAudit` before.
 */
@Injectable()
export class ReviewViews {
  constructor(
    private readonly entries: ReviewReader,
    private readonly personal: PersonalProperties,
  ) {}

  /** The view of one entry. Throws `not_found`. */
  async show(tenantId: string, id: string, options: ReviewViewOptions = { unmasked: false }): Promise<ReviewEntryDto> {
    return this.of(tenantId, await this.entries.find(tenantId, id), options);
  }

  async of(tenantId: string, { entry, isCut }: ShownEntry, { unmasked }: ReviewViewOptions): Promise<ReviewEntryDto> {
    const personal = unmasked ? null : await this.personal.namesOf(tenantId, entry.eventType);
    return new TimeSlice().run(ReviewEntryDto.of(entry, personal, isCut));
  }

  /** The whole payload of an entry as a masked view shows it. `value` is the parsed payload. */
  async maskedPayload(
    tenantId: string,
    { family, eventType }: Pick<StoredEntry, 'family' | 'eventType'>,
    value: unknown,
  ): Promise<unknown> {
    const personal = await this.personal.namesOf(tenantId, eventType);
    return new TimeSlice().run(maskedPayload(value, family, personal));
  }

  async list(
    tenantId: string,
    entries: readonly ShownEntry[],
    { unmasked }: ReviewViewOptions,
  ): Promise<ReviewEntryDto[]> {
    const types = entries.map(({ entry }) => entry.eventType);
    const names = unmasked ? null : await this.personal.namesOfAll(tenantId, types);
    const slice = new TimeSlice();
    const views: ReviewEntryDto[] = [];
    for (const { entry, isCut } of entries) {
      const personal = names === null ? null : namesFrom(names, entry.eventType);
      views.push(await slice.run(ReviewEntryDto.of(entry, personal, isCut)));
    }
    return views;
  }
}
