import { capFaults, withoutCount } from '../../platform/errors/cap-faults';
import { isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { parseTimestamp } from '../../platform/values/timestamp';
import { timestampFault } from '../../platform/errors/fault-words';
import type { Fault } from '../../platform/errors/fault';
import { emptyFault, invalidCharactersFault } from '../../platform/errors/fault-words';
import { describeFaults } from '../../platform/errors/describe-faults';
import { FAULTS_PER_EVENT_MAX } from '../domain/fault-budget';
import { checkFreeForm, type FreeFormLimits } from './free-form';
import { type EventFields, IDENTITY_CHARACTERS_MAX, type ParsedEvent } from '../domain/event';
import type { EventFamily, Submission } from '../domain/submission';
import { FIELD_NAMES } from '../domain/field-names';

export interface CheckedFields {
  readonly faults: readonly Fault[];
  /** Epoch milliseconds; null when absent or at fault. */
  readonly occurredAt: number | null;
}

/**
 * Checks what the shape of the body does not say: storable and visible text, times, the limits of free-form objects.
 * Fields of a wrong type are passed over; the check of the shape has named them.
 */
export function checkFields(
  family: EventFamily,
  sent: unknown,
  limits: FreeFormLimits,
  faultsMax = FAULTS_PER_EVENT_MAX,
): CheckedFields {
  const names = FIELD_NAMES[family];
  const fields = isObject(sent) ? sent : {};
  const faults: Fault[] = [];
  for (const path of [names.source, names.externalEventId, names.eventType]) {
    const fault = faultOfName(path, fields[path]);
    if (fault !== undefined) faults.push(fault);
  }
  const occurredAt = fields[names.occurredAt];
  const time = typeof occurredAt === 'string' ? parseTimestamp(occurredAt) : undefined;
  if (time !== undefined && 'code' in time) faults.push(timestampFault(time.code, names.occurredAt));
  const properties = fields[names.properties];
  if (isObject(properties)) faults.push(...checkFreeForm(properties, names.properties, limits, faultsMax));
  return { faults, occurredAt: time !== undefined && 'at' in time ? time.at : null };
}

/** Refuses a submission with these faults. `fields`: what it says, when only the contract of its type is against it. */
export function refuseInvalid(
  { faults: budget }: Submission,
  faults: readonly Fault[],
  fields?: EventFields,
): ParsedEvent {
  const details = budget?.spend(faults) ?? faults;
  const refusal = { code: 'validation_failed', message: describeFaults(faults), details } as const;
  return fields === undefined ? { refusal } : { refusal, fields };
}

/** Joins the faults of several checks of one event: where the first one finds fault, the others are moot, above and below it too. */
export function joinFaults(first: readonly Fault[], ...later: readonly (readonly Fault[])[]): readonly Fault[] {
  if (first.length === 0 && later.every((faults) => faults.length === 0)) return first;
  const isMoot = ({ path }: Fault): boolean =>
    withoutCount(first).some(
      (known) => known.path === '' || isAtOrBelow(path, known.path) || isAtOrBelow(known.path, path),
    );
  const joined = [...first, ...later.flat().filter((fault) => !isMoot(fault))];
  return capFaults(joined, FAULTS_PER_EVENT_MAX);
}

function isAtOrBelow(path: string, above: string): boolean {
  return path.startsWith(above) && /^(?:[.[]|$)/.test(path.slice(above.length));
}

function faultOfName(path: string, value: unknown): Fault | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  if (!isStorable(value)) return invalidCharactersFault(path);
  return /\S/.test(value) ? undefined : emptyFault(path);
}

/**
 * The texts among the fields of an identity. The check of its shape names what else is there, and longer texts, which would
 * hold the event loop while they are normalised.
 */
export function textFields(identity: unknown): Readonly<Record<string, string>> {
  if (!isObject(identity)) return {};
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && !hasMoreCharacters(value, IDENTITY_CHARACTERS_MAX);
  return Object.fromEntries(Object.entries(identity).filter((entry): entry is [string, string] => isText(entry[1])));
}
