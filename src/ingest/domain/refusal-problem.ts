import { hasMoreCharacters } from '../../platform/values/text/character-count';
import { isStorable } from '../../platform/values/text/storable-text';
import type { Problem } from '../../review/domain/review-entry';
import { FIELD_NAMES } from '../parse/event-fields';
import { eventIdOf } from './event-id';
import { isObject } from '../../platform/values/json/is-object';
import type { CheckedEvent, EventFamily, Refusal } from './incoming-event';
import { stageOf } from './judge';

/** Code points. Longer text in these fields is at fault itself, and is found in the payload. */
const SHOWN_CHARACTERS_MAX = 256;

/** What the review area keeps of a refused event (contract section 7): all that was sent, and why it was not taken. */
export function refusalProblem(
  tenantId: string,
  { family, sent }: CheckedEvent,
  refusal: Refusal,
  at: number,
): Problem {
  const names = FIELD_NAMES[family];
  const payload = sent.value;
  const source = textField(payload, names.source);
  const externalEventId = textField(payload, names.externalEventId);
  return {
    tenantId,
    severity: 'error',
    stage: stageOf(refusal),
    reason: refusal.details[0]?.code ?? refusal.code,
    message: refusal.message,
    details: refusal.details,
    family,
    source,
    externalEventId,
    eventType: textField(payload, names.eventType),
    eventId: eventIdOfSent(tenantId, { family, sent }),
    payload: { form: 'json', text: refusal.code === 'profile_erased' ? withoutPerson(payload, family) : sent.text() },
    at,
  };
}

/** The id that a refused event has or would have; undefined when its source or its own id are none. */
export function eventIdOfSent(
  tenantId: string,
  { family, sent }: Pick<CheckedEvent, 'family' | 'sent'>,
): string | undefined {
  const source = textField(sent.value, FIELD_NAMES[family].source);
  const externalEventId = textField(sent.value, FIELD_NAMES[family].externalEventId);
  return source === undefined || externalEventId === undefined
    ? undefined
    : eventIdOf(tenantId, source, externalEventId);
}

/** Of an erased person neither the identity may be kept nor what the event tells of them: only which event it was. */
function withoutPerson(payload: unknown, family: EventFamily): string {
  const { source, externalEventId, eventType, occurredAt } = FIELD_NAMES[family];
  const names = [source, externalEventId, eventType, occurredAt];
  const kept = names.flatMap((name) => (isObject(payload) && name in payload ? [[name, payload[name]] as const] : []));
  return JSON.stringify(Object.fromEntries(kept));
}

/** A field of the payload if it is text that can be stored beside it. */
function textField(payload: unknown, name: string): string | undefined {
  const value = isObject(payload) ? payload[name] : undefined;
  if (typeof value !== 'string' || value === '' || hasMoreCharacters(value, SHOWN_CHARACTERS_MAX)) return undefined;
  return isStorable(value) ? value : undefined;
}
