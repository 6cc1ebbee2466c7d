import { isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { EVENT_ID_CHARACTERS_MAX, EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from './event-limits';
import { FIELD_NAMES } from './field-names';
import type { EventFamily } from './submission';

/** Source and type of what a client sent as an event, valid or not; undefined where no event can have such a name. */
export function submissionNames(
  family: EventFamily,
  value: unknown,
): { readonly source: string | undefined; readonly eventType: string | undefined } {
  if (!isObject(value)) return { source: undefined, eventType: undefined };
  const { source, eventType } = FIELD_NAMES[family];
  return {
    source: nameOf(value[source], SOURCE_CHARACTERS_MAX),
    eventType: nameOf(value[eventType], EVENT_TYPE_CHARACTERS_MAX),
  };
}

function nameOf(value: unknown, charactersMax: number): string | undefined {
  if (typeof value !== 'string' || !/\S/.test(value) || hasMoreCharacters(value, charactersMax)) return undefined;
  return isStorable(value) ? value : undefined;
}

/** The sender's own id of what it sent as an event, valid or not; undefined where no event can have such an id. */
export function submittedEventId(family: EventFamily, value: unknown): string | undefined {
  return isObject(value) ? nameOf(value[FIELD_NAMES[family].externalEventId], EVENT_ID_CHARACTERS_MAX) : undefined;
}
