import { hash } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { beginningOfText } from '../../platform/values/text/beginning-of-text';

/** Where on its way an event met trouble (contract section 7). */
export const REVIEW_STAGES = ['request', 'authorization', 'validation', 'contract', 'identity', 'processing'] as const;
export type ReviewStage = (typeof REVIEW_STAGES)[number];
export const REVIEW_SEVERITIES = ['error', 'warning'] as const;
export type ReviewSeverity = (typeof REVIEW_SEVERITIES)[number];
export const REVIEW_STATUSES = ['open', 'replayed', 'dismissed', 'superseded'] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** What was sent: JSON text, or the text of a body that is no JSON. Kept as it came, masked whenever it is shown. */
export interface ReviewPayload {
  readonly form: 'json' | 'text';
  /** Bytes are UTF-8, or should be. */
  readonly text: string | Buffer;
  /** More was sent than was received. */
  readonly isBeginning?: boolean;
}

/** Why an entry does not hold the whole payload: it was too large, or the workspace has used up its bytes of the day. */
export type StoredPayloadState = 'cut' | 'not_kept';

/** Something that went wrong, or is odd, as the rooms that find it say it. */
export interface Problem {
  readonly tenantId: string;
  readonly severity: ReviewSeverity;
  readonly stage: ReviewStage;
  /** The first fault's code, else the error's; or the name of the warning. */
  readonly reason: string;
  readonly message: string;
  readonly details: readonly Fault[];
  readonly family: string;
  readonly payload: ReviewPayload;
  /** Taken from the payload as far as they can be stored. */
  readonly source?: string | undefined;
  readonly externalEventId?: string | undefined;
  readonly eventType?: string | undefined;
  /** The id that the event has, or would get. */
  readonly eventId?: string | undefined;
  /** Epoch milliseconds. */
  readonly at: number;
  /**
   * What makes two of these the same one, where that is not their event: such a problem is told once. What comes after the
   * first is not counted, and does not open what was closed.
   */
  readonly once?: readonly string[] | undefined;
}

/** A problem as it is stored, one row for all its occurrences. */
export interface NewReviewEntry extends Omit<Problem, 'payload' | 'once'> {
  readonly id: string;
  readonly once: boolean;
  readonly payload: string;
  readonly payloadForm: ReviewPayload['form'];
  readonly payloadState: StoredPayloadState | null;
}

/** Beside the problem itself. */
export interface EntryOptions {
  /** Makes an id that tells nothing of what it is made from. */
  readonly idOf: (parts: readonly string[]) => string;
  /** Of JSON, which may be replayed: what is larger can be no event, and only its beginning is kept. */
  readonly jsonBytesMax: number;
}

/** Of what cannot be replayed as it came: a body that is no JSON, or JSON over its limit. Enough to see what it was. */
export const BEGINNING_BYTES_MAX = 64 * 1024;
/** What a row weighs beside its texts, with its places in the indexes. */
export const ROW_BYTES = 512;
/** What is replayable whatever the settings: the limit of a single event's body, unless a larger one is set. */
export const JSON_BYTES_MAX = 256 * 1024;

/**
 * Same workspace, source, event id and reason: one entry with a count; without source or id, the same payload is the
 * same problem, and all of it counts, also what is not kept. The id is made from just that.
 */
export function reviewEntry(
  { payload, once, ...problem }: Problem,
  { idOf, jsonBytesMax }: EntryOptions,
): NewReviewEntry {
  const { tenantId, source, externalEventId, reason, message, details } = problem;
  const ofEvent =
    source === undefined || externalEventId === undefined ? undefined : ['event', source, externalEventId];
  const subject = once ?? ofEvent ?? ['payload', hash('sha256', payload.text)];
  const words = {
    message: cleaned(message),
    details: details.map((fault) => ({ ...fault, path: cleaned(fault.path) })),
  };
  return {
    ...{ ...problem, ...words },
    id: idOf([tenantId, reason, ...subject]),
    once: once !== undefined,
    ...keptPayload(payload, jsonBytesMax),
  };
}

/** What an entry adds to what its workspace keeps; `review.sql.ts` weighs stored ones in the same way. */
export function bytesOf({
  payload,
  message,
  details,
}: Pick<NewReviewEntry, 'payload' | 'message' | 'details'>): number {
  const texts = [payload, message, JSON.stringify(details)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), ROW_BYTES);
}

type KeptPayload = Pick<NewReviewEntry, 'payload' | 'payloadForm' | 'payloadState'>;

function keptPayload({ form, text, isBeginning = false }: ReviewPayload, jsonBytesMax: number): KeptPayload {
  if (form === 'json' && !isBeginning && Buffer.byteLength(text) <= jsonBytesMax) {
    return { payload: text.toString(), payloadForm: 'json', payloadState: null };
  }
  const beginning = beginningOfText(text, BEGINNING_BYTES_MAX);
  // Escapes make six characters of one.
  const storable = beginningOfText(cleaned(beginning.text), BEGINNING_BYTES_MAX);
  const isCut = isBeginning || beginning.isCut || storable.isCut;
  return { payload: storable.text, payloadForm: 'text', payloadState: isCut ? 'cut' : null };
}

/** PostgreSQL's text takes no U+0000, and UTF-8 no lone surrogate; JSON text has escapes for both already. */
function cleaned(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\\u0000');
}
