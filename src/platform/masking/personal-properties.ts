import { Injectable } from '@nestjs/common';

/**
 * Names the properties of an event type that are registered as personal data, in any of its versions; of all event types
 * where it is not known which one a payload is of.
 */
export type PersonalPropertyNames = (tenantId: string, eventType: string | null) => Promise<ReadonlySet<string>>;

/**
 * Where every view that masks asks which properties are personal. The feature that knows event types says so at start;
 * views of features that must not know it ask here.
 */
@Injectable()
export class PersonalProperties {
  private source: PersonalPropertyNames | undefined;

  answerWith(source: PersonalPropertyNames): void {
    this.source = source;
  }

  /** Never guesses: without a source nothing may be shown. */
  namesOf(tenantId: string, eventType: string | null): Promise<ReadonlySet<string>> {
    if (this.source === undefined) throw new Error('A view asks for personal properties before anybody knows them');
    return this.source(tenantId, eventType);
  }
}
