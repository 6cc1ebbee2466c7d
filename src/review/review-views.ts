import { Injectable } from '@nestjs/common';
import { TimeSlice } from '../platform/values/time-slice';
import { namesFrom, PersonalProperties } from '../platform/privacy/personal-properties';
import type { StoredEntry } from './domain/review-entry';
import { maskedPayload, ReviewEntryDto } from './dto/review-entry.dto';
import { ReviewReader, type ShownEntry } from './review-reader';

export interface ReviewViewOptions {
  readonly unmasked: boolean;
}

/** What tells which properties of an entry's payload are personal. */
type TypedEntry = Pick<StoredEntry, 'family' | 'eventType'>;

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
    return this.of(tenantId, await this.entries.getShown(tenantId, id), options);
  }

  async of(tenantId: string, { entry, isCut }: ShownEntry, { unmasked }: ReviewViewOptions): Promise<ReviewEntryDto> {
    const namesOf = unmasked ? null : await this.personalNames(tenantId, [entry]);
    return new TimeSlice().run(ReviewEntryDto.of(entry, namesOf?.(entry) ?? null, isCut));
  }

  /** The whole payload of an entry as a masked view shows it. `value` is the parsed payload. */
  async maskedPayload(tenantId: string, entry: TypedEntry, value: unknown): Promise<unknown> {
    const namesOf = await this.personalNames(tenantId, [entry]);
    return new TimeSlice().run(maskedPayload(value, entry.family, namesOf(entry)));
  }

  async list(
    tenantId: string,
    entries: readonly ShownEntry[],
    { unmasked }: ReviewViewOptions,
  ): Promise<ReviewEntryDto[]> {
    const typed = entries.map(({ entry }) => entry);
    const namesOf = unmasked ? null : await this.personalNames(tenantId, typed);
    const slice = new TimeSlice();
    const views: ReviewEntryDto[] = [];
    for (const { entry, isCut } of entries) {
      views.push(await slice.run(ReviewEntryDto.of(entry, namesOf?.(entry) ?? null, isCut)));
    }
    return views;
  }

  /**
   * The personal properties of each of these entries. A type of the CDP family that is not registered may be a misspelt
   * one, so that the properties of all types count, as where the type is not known at all.
   */
  private async personalNames(
    tenantId: string,
    entries: readonly TypedEntry[],
  ): Promise<(entry: TypedEntry) => ReadonlySet<string>> {
    const ofCdp = entries.flatMap(({ family, eventType }) => (family === 'cdp' ? (eventType ?? []) : []));
    const unregistered = await this.personal.unregisteredAmong(tenantId, ofCdp);
    const typeOf = ({ family, eventType }: TypedEntry): string | null =>
      family === 'cdp' && eventType !== null && unregistered.has(eventType) ? null : eventType;
    const names = await this.personal.namesOfAll(tenantId, entries.map(typeOf));
    return (entry) => namesFrom(names, typeOf(entry));
  }
}
