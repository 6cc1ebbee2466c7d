import { EVENT_TYPE_CHARACTERS_MAX } from '../../ingest/domain/event';
import type { EventFamily, Submission } from '../../ingest/domain/submission';
import { jsonTextOf } from '../../platform/values/json/json-text-of';
import { FIELD_NAMES } from '../../ingest/domain/field-names';
import type { Fault } from '../../platform/errors/fault';
import { fieldPath } from '../../platform/errors/fault-words';
import { isObject } from '../../platform/values/json/json-values';
import { parseExactly } from '../../platform/values/json/parse-exactly';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import type { StoredEntry } from '../../review/domain/review-entry';
import { restoreMasked, type Correction } from './restore-masked';

/** What a replay does: sends an event, processes a stored event again, or reports why it can do neither. */
export type Replayable =
  { readonly submission: Submission } | { readonly storedEventId: string } | { readonly faults: readonly Fault[] };

type Replayed = Pick<
  StoredEntry,
  | 'severity'
  | 'stage'
  | 'family'
  | 'source'
  | 'externalEventId'
  | 'eventId'
  | 'details'
  | 'payload'
  | 'payloadForm'
  | 'payloadState'
>;

const PAYLOAD = 'payload';

/** The value of the stored payload; undefined if it is not stored, or is no JSON. */
export function storedValue({ payload, payloadForm }: Pick<Replayed, 'payload' | 'payloadForm'>): unknown {
  return payload === null || payloadForm === 'text' ? undefined : parseExactly(payload);
}

/**
 * The type of events by whose views a correction may leave masks: a view of the corrected event must hide what the masks
 * stand for, too. A view of an event of unknown type hides more than that, namely what any type declares as personal.
 */
export function typeOfMasks(
  { family, eventType }: Pick<StoredEntry, 'family' | 'eventType'>,
  corrected: object,
): string | null {
  const field = FIELD_NAMES[family as EventFamily].eventType;
  const type = (corrected as Readonly<Record<string, unknown>>)[field];
  const isType = typeof type === 'string' && isStorable(type) && !hasMoreCharacters(type, EVENT_TYPE_CHARACTERS_MAX);
  return isType ? type : eventType;
}

/**
 * Decides what a replay of an entry does (docs/adr/0023). It sends the stored payload or the corrected one, which must
 * have the same source and event id. An event whose processing failed is stored, and is processed again without a
 * payload. A warning has nothing to send.
 */
export function replayable(entry: Replayed, corrected: Correction | undefined): Replayable {
  if (entry.severity === 'error' && entry.stage === 'processing') {
    if (entry.eventId === null) return notReplayable('', 'The entry is about no event; there is nothing to replay.');
    if (corrected === undefined) return { storedEventId: entry.eventId };
    return notReplayable(
      PAYLOAD,
      'The event of this entry is stored and is processed again as it is; send no payload.',
    );
  }
  if (entry.severity === 'warning') {
    return notReplayable('', 'The event of this entry is stored; there is nothing to replay.');
  }
  if (entry.payloadState === 'not_kept') {
    return notReplayable(
      PAYLOAD,
      'The entry has no payload: the workspace had reached its daily limit. Send the events to their ingest route again.',
    );
  }
  if (corrected !== undefined) return correctedEvent(entry, corrected);
  if (entry.payload === null || entry.payloadState === 'removed') {
    return notReplayable(PAYLOAD, 'The payload is no longer stored; send a corrected payload, or dismiss the entry.');
  }
  if (entry.payloadState === 'cut') {
    return notReplayable(
      PAYLOAD,
      'Only the beginning of the payload is stored: it was too large. Send one event of it as payload, or send it again.',
    );
  }
  if (entry.payloadForm === 'text') {
    return notReplayable(PAYLOAD, 'The entry contains a body that is no JSON; send one event of it as payload.');
  }
  const text = entry.payload;
  const value = parseExactly(text);
  if (isEnvelope(value)) {
    return notReplayable(
      PAYLOAD,
      'The entry contains a whole batch; send one event of it as payload, or send the batch again.',
    );
  }
  return submissionOf(entry, value, text);
}

function correctedEvent(entry: Replayed, correction: Correction): Replayable {
  const { externalEventId } = FIELD_NAMES[entry.family as EventFamily];
  const { value, faults: masks } = restoreMasked(correction, PAYLOAD);
  const faults = [
    ...masks,
    ...faultOfOther(entry, value, 'source', entry.source),
    ...faultOfOther(entry, value, externalEventId, entry.externalEventId),
  ];
  if (faults.length > 0) return { faults };
  return submissionOf(entry, value, jsonTextOf(value));
}

function submissionOf({ family }: Replayed, value: unknown, text: string): Replayable {
  return { submission: { family: family as EventFamily, value, bytes: text.length, text: () => text } };
}

/** A field may differ if it had a fault itself. `source_not_allowed` is no such fault: it is about the credential. */
function faultOfOther({ details }: Replayed, value: object, field: string, original: string | null): Fault[] {
  const wasAtFault = details.some(({ path, code }) => path === field && code !== 'source_not_allowed');
  if (original === null || wasAtFault || (value as Record<string, unknown>)[field] === original) return [];
  const path = fieldPath(PAYLOAD, field);
  return [
    { path, code: 'other_event', message: `${path} must equal that of the entry: a replay keeps the event's id.` },
  ];
}

function isEnvelope(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['items']) && value['source'] === undefined;
}

function notReplayable(path: string, message: string): Replayable {
  return { faults: [{ path, code: 'not_replayable', message }] };
}
