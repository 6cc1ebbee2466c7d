import { Injectable } from '@nestjs/common';

/** By event type, the properties that are registered as personal data in any of its versions. */
export type PersonalNamesByType = ReadonlyMap<string | null, ReadonlySet<string>>;

export interface PersonalPropertiesSource {
  /** For each of the event types; for null, where it is not known which type a payload is of, the names of all types. */
  readonly namesOf: (tenantId: string, eventTypes: readonly (string | null)[]) => Promise<PersonalNamesByType>;
  /** Those of the event types that nobody has registered. */
  readonly unregisteredAmong: (tenantId: string, eventTypes: readonly string[]) => Promise<ReadonlySet<string>>;
}

/**
 * Where every view that masks asks which properties are personal. The feature that knows event types says so at start;
 * views of features that must not know it ask here.
 */
@Injectable()
export class PersonalProperties {
  private source: PersonalPropertiesSource | undefined;

  answerWith(source: PersonalPropertiesSource): void {
    this.source = source;
  }

  /** For a page of views: one question for all of its event types. Never guesses: without a source nothing may be shown. */
  async namesOfAll(tenantId: string, eventTypes: readonly (string | null)[]): Promise<PersonalNamesByType> {
    return this.known().namesOf(tenantId, [...new Set(eventTypes)]);
  }

  /** Those of the event types that nobody has registered. */
  unregisteredAmong(tenantId: string, eventTypes: readonly string[]): Promise<ReadonlySet<string>> {
    return this.known().unregisteredAmong(tenantId, [...new Set(eventTypes)]);
  }

  /** For one view. */
  async namesOf(tenantId: string, eventType: string | null): Promise<ReadonlySet<string>> {
    return namesFrom(await this.namesOfAll(tenantId, [eventType]), eventType);
  }

  private known(): PersonalPropertiesSource {
    if (this.source === undefined)
      throw new Error('A view reads personal properties before their source is registered');
    return this.source;
  }
}

/** Of one of the types that were asked for. Throws where it was not: a view must not show what it has not asked about. */
export function namesFrom(names: PersonalNamesByType, eventType: string | null): ReadonlySet<string> {
  const found = names.get(eventType);
  if (found === undefined) throw new Error('A view was left without the names of the personal properties of its type');
  return found;
}
