import { isObject } from '../../platform/json/is-object';
import { isStorable } from '../../platform/text/storable-text';
import { parseTimestamp, timestampFault } from '../../platform/clock/timestamp';
import type { Fault } from '../../platform/errors/fault';
import { emptyFault, invalidCharactersFault, tooManyFaultsFault } from '../../platform/errors/fault-words';
import { checkFreeForm, type FreeFormLimits } from './free-form';

/** One field of an event under the name that its family gives it. */
interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** The fields that both families have (contract section 3). */
export interface EventFields {
  readonly source: Field;
  readonly externalEventId: Field;
  readonly eventType: Field;
  readonly occurredAt: Field;
  readonly properties: Field;
}

export interface CheckedFields {
  readonly faults: readonly Fault[];
  /** Epoch milliseconds; null when absent or at fault. */
  readonly occurredAt: number | null;
}

/**
 * Checks what the shape of the body does not say: storable and visible text, times, the limits of free-form objects.
 * Fields of a wrong type are passed over; the check of the shape has named them.
 */
export function checkFields(fields: EventFields, limits: FreeFormLimits): CheckedFields {
  const faults = [fields.source, fields.externalEventId, fields.eventType].flatMap(faultsOfName);
  const { path, value } = fields.occurredAt;
  const time = typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (time !== undefined && 'code' in time) faults.push(timestampFault(time.code, path));
  if (isObject(fields.properties.value)) {
    faults.push(...checkFreeForm(fields.properties.value, fields.properties.path, limits));
  }
  return { faults, occurredAt: time !== undefined && 'at' in time ? time.at : null };
}

/** Faults listed of one event; a batch of a thousand hostile ones still gives an answer of some megabytes at most. */
const FAULTS_PER_EVENT_MAX = 100;

/** Joins the faults of several checks of one event: where the first one finds fault, the others are moot, above and below it too. */
export function joinFaults(first: readonly Fault[], ...later: readonly (readonly Fault[])[]): Fault[] {
  const isMoot = ({ path }: Fault): boolean =>
    first.some((known) => known.path === '' || isAtOrBelow(path, known.path) || isAtOrBelow(known.path, path));
  const joined = [...first, ...later.flat().filter((fault) => !isMoot(fault))];
  if (joined.length <= FAULTS_PER_EVENT_MAX) return joined;
  return [...joined.slice(0, FAULTS_PER_EVENT_MAX), tooManyFaultsFault(FAULTS_PER_EVENT_MAX)];
}

function isAtOrBelow(path: string, above: string): boolean {
  return path.startsWith(above) && /^(?:[.[]|$)/.test(path.slice(above.length));
}

function faultsOfName({ path, value }: Field): Fault[] {
  if (typeof value !== 'string' || value === '') return [];
  if (!isStorable(value)) return [invalidCharactersFault(path)];
  return /\S/.test(value) ? [] : [emptyFault(path)];
}
