import type { Fault } from '../../platform/errors/fault';
import {
  formatFault,
  invalidCharactersFault,
  tooLongFault,
  typeFault,
  withSuggestion,
} from '../../platform/errors/fault-words';
import { isStorable } from '../../platform/values/text/text-rules';
import { type EventRecord, ownValue, RECORD_BRANCHES, RECORD_FIELDS, recordSteps, suggestedPath } from './event-record';

/** Longer than any path in an event with usual names. */
export const VALUE_PATH_CHARACTERS_MAX = 256;
/** `properties` may be 8 levels deep (contract section 3), and then there is `properties` itself. */
export const VALUE_PATH_STEPS_MAX = 9;
/** Names that every object inherits; no path may contain them. */
const INHERITED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const FORM =
  'must be the path of a value in the event, such as source, identity.email, properties.amount or properties.items.0.sku';

/** The faults of `valueFrom`, any JSON value. Codes: `type`, `too_long`, `invalid_characters`, `format`. */
export function valuePathFaults(valueFrom: unknown, path: string): readonly Fault[] {
  if (typeof valueFrom !== 'string') return [typeFault(path, 'a string')];
  if (valueFrom.length > VALUE_PATH_CHARACTERS_MAX) return [tooLongFault(path, VALUE_PATH_CHARACTERS_MAX)];
  if (!isStorable(valueFrom)) return [invalidCharactersFault(path)];
  if (isValuePath(valueFrom)) return [];
  const meant = suggestedPath(recordSteps(valueFrom));
  return [withSuggestion(formatFault(path, FORM), meant)];
}

/** The value at the path in an event; undefined: none. */
export function valueAt(event: EventRecord, valueFrom: string): unknown {
  return ownValue(event, recordSteps(valueFrom));
}

function isValuePath(text: string): boolean {
  const [field = '', ...below] = recordSteps(text);
  if (!RECORD_FIELDS.some((each) => each === field)) return false;
  if (RECORD_BRANCHES.has(field) !== below.length > 0 || below.length >= VALUE_PATH_STEPS_MAX) return false;
  return below.every((step) => step !== '' && !INHERITED.has(step));
}
