import { Injectable } from '@nestjs/common';
import type { Principal } from '../../platform/auth/principal';
import { grants } from '../../platform/auth/scopes';
import { propertySteps } from '../../platform/privacy/mask';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { isObject } from '../../platform/values/json/json-values';
import { TimeSlice } from '../../platform/values/time-slice';
import type { PropertyDefinition } from './domain/event-type-definition';
import { PropertyInference } from './domain/infer-properties';
import { RecentEvents } from './recent-events';

/** Stored and refused events together: as many as somebody wants to wait for, and enough to see what is optional. */
const EVENTS_MAX = 400;

/** A draft of an event type, and how many events it is made of. */
export interface InferredEventType {
  readonly eventType: string;
  readonly properties: Readonly<Record<string, PropertyDefinition>>;
  readonly stored: number;
  readonly refused: number;
}

/** Drafts event types from events that were sent (contract section 10). Writes nothing. */
@Injectable()
export class EventTypeInference {
  constructor(
    private readonly recent: RecentEvents,
    private readonly personal: PersonalProperties,
  ) {}

  /** From those of the newest events that the caller may read: stored ones with `events:read`, refused ones with `review:read`. */
  async infer({ tenantId, scopes }: Principal, eventType: string): Promise<InferredEventType> {
    // Events of an unregistered type may be of another one whose name was misspelt, as in the review area.
    const isUnregistered = (await this.personal.unregisteredAmong(tenantId, [eventType])).has(eventType);
    const piiNames = await this.personal.namesOf(tenantId, isUnregistered ? null : eventType);
    const slice = new TimeSlice();
    const inference = new PropertyInference();
    const add = async (properties: unknown): Promise<boolean> => {
      if (!isObject(properties)) return false;
      inference.add(properties, (await slice.run(propertySteps(properties, piiNames))) as Record<string, unknown>);
      return true;
    };
    let [stored, refused] = [0, 0];
    const [withStored, withRefused] = [grants(scopes, 'events:read'), grants(scopes, 'review:read')];
    const query = { eventType, max: EVENTS_MAX, withStored, withRefused };
    for await (const texts of this.recent.read(tenantId, query)) {
      for (const text of texts.stored) if (await add(JSON.parse(text))) stored += 1;
      for (const text of texts.refused) if (await add(propertiesOf(JSON.parse(text)))) refused += 1;
    }
    return { eventType, properties: inference.result(), stored, refused };
  }
}

/** Those of a refused event, or what it has in their place; none where it has none, or null. */
function propertiesOf(payload: unknown): unknown {
  return isObject(payload) ? (payload['properties'] ?? {}) : {};
}
