import type { Fault } from '../../platform/errors/fault';
import { isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { EVENT_ID_CHARACTERS_MAX, EVENT_TYPE_CHARACTERS_MAX, SOURCE_CHARACTERS_MAX } from './event';
import type { EventFamily } from './submission';

/** What a family calls the fields that both families have (contract section 3). */
interface FieldNames {
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  readonly occurredAt: string;
  readonly properties: string;
}

export const FIELD_NAMES: Readonly<Record<EventFamily, FieldNames>> = {
  external: {
    source: 'source',
    externalEventId: 'external_event_id',
    eventType: 'type',
    occurredAt: 'occurred_at',
    properties: 'attributes',
  },
  cdp: {
    source: 'source',
    externalEventId: 'externalEventId',
    eventType: 'eventType',
    occurredAt: 'occurredAt',
    properties: 'properties',
  },
};

interface OtherFamily {
  /** What its events are called. */
  readonly name: string;
  /** By the path of a field that only its events have: what this family has instead. */
  readonly fields: ReadonlyMap<string, string>;
}

const CDP_IDENTITY = 'identity.externalUserId, identity.email, identity.phone and identity.deviceKey';
const IDENTITY_KINDS = { externalUserId: 'EXTERNAL', email: 'EMAIL', phone: 'PHONE', deviceKey: 'DEVICE' } as const;

const EVENTS_OF: Readonly<Record<EventFamily, string>> = { external: 'external events', cdp: 'CDP events' };

/** The fields that clients send to one family and that the other one has (contract section 3). */
const OTHERS: Readonly<Record<EventFamily, OtherFamily>> = {
  external: {
    name: EVENTS_OF.cdp,
    fields: new Map([
      ...namesOf('cdp', 'external'),
      ...Object.entries(IDENTITY_KINDS).map(
        ([name, kind]) => [`identity.${name}`, `identity.type, here "${kind}", and identity.value`] as const,
      ),
    ]),
  },
  cdp: {
    name: EVENTS_OF.external,
    fields: new Map([
      ...namesOf('external', 'cdp'),
      ...(['identity.type', 'identity.value'] as const).map((path) => [path, CDP_IDENTITY] as const),
    ]),
  },
};

/**
 * Says of each unknown field that the other family has what it is called here: the client has
 * mixed up the two. Other faults stay as they are.
 */
export function explainOtherFamily(family: EventFamily, faults: readonly Fault[]): readonly Fault[] {
  const { name, fields } = OTHERS[family];
  return faults.map((fault) => {
    const own = fault.code === 'unknown_field' ? fields.get(fault.path) : undefined;
    if (own === undefined) return fault;
    return { ...fault, message: `${fault.path} is the name in ${name}; ${EVENTS_OF[family]} have ${own}.` };
  });
}

/** Each name of a family that the other one does not have, and what it is called there. */
function namesOf(family: EventFamily, other: EventFamily): (readonly [string, string])[] {
  const [names, others] = [FIELD_NAMES[family], FIELD_NAMES[other]];
  return (Object.keys(names) as (keyof typeof names)[]).flatMap((meaning) =>
    names[meaning] === others[meaning] ? [] : [[names[meaning], others[meaning]] as const],
  );
}

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
