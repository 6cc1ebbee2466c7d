import { similarName } from '../../platform/values/text/similar-name';
import type { LoggedEvent } from '../../ingest/domain/event';

/**
 * The fields of an event as conditions and `valueFrom` see it (contract section 3), those that hold more fields last.
 */
export const RECORD_FIELDS = [
  'eventId',
  'family',
  'source',
  'externalEventId',
  'eventType',
  'eventTypeVersion',
  'occurredAt',
  'receivedAt',
  'profileId',
  'identity',
  'properties',
] as const;

/** The fields that hold other fields. */
export const RECORD_BRANCHES: ReadonlySet<string> = new Set(['identity', 'properties']);

/** The fields of `identity`: those of the external family, then those of the CDP family (contract section 3). */
export const IDENTITY_FIELDS = ['type', 'value', 'externalUserId', 'email', 'phone', 'deviceKey'] as const;

/** The name of the whole record in conditions. */
const RECORD_NAME = 'event';

/** An event in JSON, unmasked. */
export type EventRecord = Readonly<Record<string, unknown>>;

/** The record of an event (contract section 3), times as text. */
export function recordOf(event: LoggedEvent): EventRecord {
  const { eventId, family, source, externalEventId, eventType, eventTypeVersion, profileId, identity, properties } =
    event;
  return {
    eventId,
    family,
    source,
    externalEventId,
    eventType,
    eventTypeVersion,
    occurredAt: event.occurredAt.toISOString(),
    receivedAt: event.receivedAt.toISOString(),
    profileId,
    identity,
    properties,
  };
}

/**
 * The data that a condition reads: the record as `event`, and its fields as they are, so that `event.properties.amount`
 * and `properties.amount` mean the same. Within an operator that iterates over a list, paths start at the entry
 * instead.
 */
export function conditionData(record: EventRecord): EventRecord {
  return { ...record, [RECORD_NAME]: record };
}

/** The steps of a path below the record; `event.properties.amount` and `properties.amount` mean the same. */
export function recordSteps(path: string): readonly string[] {
  const steps = path.split('.');
  return steps[0] === RECORD_NAME && steps.length > 1 ? steps.slice(1) : steps;
}

/**
 * The path that was probably meant by one that no record has: the same path below a field of a similar name
 * (`attributes.amount`: `properties.amount`), or below `identity`. Undefined when none is similar.
 */
export function suggestedPath([first = '', ...below]: readonly string[]): string | undefined {
  const isField = RECORD_FIELDS.some((field) => field === first);
  if (first === 'identity' && below.length > 0) {
    const name = similarName(below[0] ?? '', IDENTITY_FIELDS);
    return name === undefined ? undefined : `identity.${name}`;
  }
  if (isField) return RECORD_BRANCHES.has(first) ? undefined : first;
  const field = similarName(first, RECORD_FIELDS);
  if (field !== undefined && RECORD_BRANCHES.has(field) === below.length > 0) return [field, ...below].join('.');
  const isIdentity = below.length === 0 && IDENTITY_FIELDS.some((name) => name === first);
  return isIdentity ? `identity.${first}` : undefined;
}

/** The index of a list's entry, as JavaScript writes it. */
const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The value at a path of a JSON value; undefined: none. Own fields and entries only: `constructor` and `__proto__` are
 * found only if a client sent a field of that name.
 */
export function ownValue(root: unknown, steps: readonly string[]): unknown {
  let value = root;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !INDEX.test(step)) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}
