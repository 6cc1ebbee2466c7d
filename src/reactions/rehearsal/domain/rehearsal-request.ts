import type { Fault } from '../../../platform/errors/fault';
import { FaultList } from '../../../platform/errors/fault-list';
import {
  itemPath,
  formatFault,
  rangeFault,
  requiredFault,
  tooFewItemsFault,
  tooManyItemsFault,
  typeFault,
} from '../../../platform/errors/fault-words';
import { addUnknownFields } from '../../../platform/errors/unknown-fields';
import { isAbsent, isObject } from '../../../platform/values/json/json-values';
import { PATH_NAME, PATH_NAME_FORM } from '../../../platform/values/text/path-name';
import { isUuid } from '../../../platform/values/uuid';
import type { EventFamily } from '../../../ingest/domain/submission';

/** Each takes a look-up. */
export const EVENT_IDS_MAX = 100;
/** Of the newest events of the type. */
export const LAST_MAX = 1_000;

/** What to rehearse: a definition, or the stored reaction of a name. */
export type RehearsedReaction = { readonly definition: unknown } | { readonly name: string };

/** On which events: one that is not stored, some stored ones, or the newest ones. */
export type RehearsedEvents =
  | { readonly event: Readonly<Record<string, unknown>>; readonly family: EventFamily }
  | { readonly eventIds: readonly string[] }
  | { readonly last: number };

export interface RehearsalRequest {
  readonly reaction: RehearsedReaction;
  readonly events: RehearsedEvents;
}

type Fields = Readonly<Record<string, unknown>>;

const FIELDS: ReadonlySet<string> = new Set(['reaction', 'name', 'event', 'eventIds', 'last']);
/** Fields that only events of the CDP family have (contract section 3). */
const CDP_FIELDS = ['externalEventId', 'eventType', 'occurredAt', 'properties'] as const;

/** Reads the body of `reactions:test`, any JSON value; null counts as absent. Names every fault of its shape. */
export function parseRehearsal(
  body: unknown,
): { readonly request: RehearsalRequest } | { readonly faults: readonly Fault[] } {
  if (!isObject(body)) return { faults: [typeFault('', 'an object')] };
  const faults = new FaultList();
  const reaction = reactionOf(body, faults);
  const events = eventsOf(body, faults);
  addUnknownFields(body, FIELDS, { path: '', whole: 'a test' }, faults);
  if (!faults.isEmpty || reaction === undefined || events === undefined) return { faults: faults.all() };
  return { request: { reaction, events } };
}

/** Exactly one of these fields must be set; undefined: another number of them is. */
function onlyFieldOf(body: Fields, fields: readonly string[], faults: FaultList): string | undefined {
  const set = fields.filter((field) => !isAbsent(body[field]));
  const [first = '', second] = set;
  if (set.length === 0) faults.push(requiredFault(fields[0] ?? ''));
  if (second === undefined) return set.length === 1 ? first : undefined;
  const message = `${second} and ${first} exclude each other; send one of ${fields.join(', ')}.`;
  faults.push({ path: second, code: 'conflicting_fields', message });
  return undefined;
}

function reactionOf(body: Fields, faults: FaultList): RehearsedReaction | undefined {
  const field = onlyFieldOf(body, ['reaction', 'name'], faults);
  if (field === 'reaction') return { definition: body['reaction'] };
  const { name } = body;
  if (field === undefined) return undefined;
  if (typeof name !== 'string') faults.push(typeFault('name', 'a string'));
  else if (PATH_NAME.test(name)) return { name };
  else faults.push(formatFault('name', PATH_NAME_FORM));
  return undefined;
}

function eventsOf(body: Fields, faults: FaultList): RehearsedEvents | undefined {
  const field = onlyFieldOf(body, ['event', 'eventIds', 'last'], faults);
  if (field === 'event') return eventOf(body['event'], faults);
  if (field === 'eventIds') return eventIdsOf(body['eventIds'], faults);
  return field === 'last' ? lastOf(body['last'], faults) : undefined;
}

function eventOf(event: unknown, faults: FaultList): RehearsedEvents | undefined {
  if (!isObject(event)) {
    faults.push(typeFault('event', 'an object: the body of an event of either family'));
    return undefined;
  }
  return { event, family: CDP_FIELDS.some((field) => Object.hasOwn(event, field)) ? 'cdp' : 'external' };
}

function eventIdsOf(ids: unknown, faults: FaultList): RehearsedEvents | undefined {
  if (!Array.isArray(ids)) faults.push(typeFault('eventIds', 'a list'));
  else if (ids.length === 0) faults.push(tooFewItemsFault('eventIds', 1));
  else if (ids.length > EVENT_IDS_MAX) faults.push(tooManyItemsFault('eventIds', EVENT_IDS_MAX));
  else {
    const texts = ids.filter((id): id is string => typeof id === 'string' && isUuid(id));
    // An id is the same in upper case; stored ones are in lower case.
    if (texts.length === ids.length) return { eventIds: [...new Set(texts.map((id) => id.toLowerCase()))] };
    ids.forEach((id: unknown, index) => {
      if (typeof id !== 'string' || !isUuid(id)) faults.push(formatFault(itemPath('eventIds', index), 'must be an id'));
    });
  }
  return undefined;
}

function lastOf(last: unknown, faults: FaultList): RehearsedEvents | undefined {
  if (typeof last === 'number' && Number.isInteger(last) && last >= 1 && last <= LAST_MAX) return { last };
  faults.push(
    typeof last === 'number'
      ? rangeFault('last', `a whole number from 1 to ${LAST_MAX}`)
      : typeFault('last', `a whole number from 1 to ${LAST_MAX}`),
  );
  return undefined;
}
