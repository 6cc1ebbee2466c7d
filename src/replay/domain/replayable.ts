import type { EventFamily, Submission } from '../../ingest/domain/submission';
import { jsonTextOf } from '../../platform/values/json/json-text-of';
import { FIELD_NAMES } from '../../ingest/domain/field-names';
import type { Fault } from '../../platform/errors/fault';
import { fieldPath } from '../../platform/errors/fault-words';
import { isObject } from '../../platform/values/json/is-object';
import { parseExactly } from '../../platform/values/json/parse-exactly';
import type { StoredEntry } from '../../review/domain/stored-entry';

/** The event that a replay sends, or the stored one that it processes again, or why there is none. */
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

/**
 * What is sent when an entry is replayed (docs/adr/0023): the payload as it came, or the corrected one, which must be about
 * the same event. What could not be processed is stored and is processed again as it is; warnings hold nothing to send.
 */
export function replayable(entry: Replayed, corrected: object | undefined): Replayable {
  if (entry.severity === 'error' && entry.stage === 'processing' && entry.eventId !== null) {
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
      'The entry only counts: the workspace had used up the bytes of the day. Send the events again to their ingest route.',
    );
  }
  if (corrected !== undefined) return correctedEvent(entry, corrected);
  if (entry.payload === null) {
    return notReplayable(PAYLOAD, 'The payload is no longer kept; send a corrected payload, or dismiss the entry.');
  }
  if (entry.payloadState === 'cut') {
    return notReplayable(
      PAYLOAD,
      'Only the beginning of the payload is kept, because it was too large; send one event of it as payload, or send it again.',
    );
  }
  if (entry.payloadForm === 'text') {
    return notReplayable(PAYLOAD, 'The entry keeps a body that is no JSON; send one event of it as payload.');
  }
  const text = entry.payload;
  const value = parseExactly(text);
  if (isEnvelope(value)) {
    return notReplayable(
      PAYLOAD,
      'The entry keeps a whole batch; send one event of it as payload, or the batch again.',
    );
  }
  return submissionOf(entry, value, text);
}

function correctedEvent(entry: Replayed, value: object): Replayable {
  const { externalEventId } = FIELD_NAMES[entry.family as EventFamily];
  const faults = [
    ...faultOfOther(entry, value, 'source', entry.source),
    ...faultOfOther(entry, value, externalEventId, entry.externalEventId),
  ];
  if (faults.length > 0) return { faults };
  return submissionOf(entry, value, jsonTextOf(value));
}

function submissionOf({ family }: Replayed, value: unknown, text: string): Replayable {
  return { submission: { family: family as EventFamily, value, bytes: text.length, text: () => text } };
}

/** What was wrong in the field itself may be corrected there. That the credential may not send a source is no such thing. */
function faultOfOther({ details }: Replayed, value: object, field: string, original: string | null): Fault[] {
  const wasAtFault = details.some(({ path, code }) => path === field && code !== 'source_not_allowed');
  if (original === null || wasAtFault || (value as Record<string, unknown>)[field] === original) return [];
  const path = fieldPath(PAYLOAD, field);
  return [
    { path, code: 'other_event', message: `${path} must be the one of the entry: a replay keeps the event's id.` },
  ];
}

function isEnvelope(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['items']) && value['source'] === undefined;
}

function notReplayable(path: string, message: string): Replayable {
  return { faults: [{ path, code: 'not_replayable', message }] };
}
