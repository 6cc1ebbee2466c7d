import { hash } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { beginningOfText } from '../../platform/values/text/beginning-of-text';

/** The step of the pipeline where the problem occurred (contract section 7). */
export const REVIEW_STAGES = ['request', 'authorization', 'validation', 'contract', 'identity', 'processing'] as const;
export type ReviewStage = (typeof REVIEW_STAGES)[number];
export const REVIEW_SEVERITIES = ['error', 'warning'] as const;
export type ReviewSeverity = (typeof REVIEW_SEVERITIES)[number];
export const REVIEW_STATUSES = ['open', 'replayed', 'dismissed', 'superseded'] as const;
export type ReviewStatus = (typeof REVIEW_STATUSES)[number];

/** What the client sent: JSON text, or the text of a body that is no JSON. Stored as it came; views mask it. */
export interface ReviewPayload {
  readonly form: 'json' | 'text';
  /** A Buffer holds UTF-8, or invalid UTF-8 that a client sent. */
  readonly text: string | Buffer;
  /** Whether the text is incomplete, because the service stopped reading the body. */
  readonly isBeginning?: boolean;
  /** Whether the text says only which event it was, because the event is about an erased person. */
  readonly isStripped?: boolean;
}

/**
 * Why the payload is incomplete: it was too large (`cut`), the workspace has used up its bytes of the day (`not_kept`), or
 * it is about an erased person (`removed`).
 */
export type StoredPayloadState = 'cut' | 'not_kept' | 'removed';

/** An error or a warning, as the code that finds it reports it. */
export interface Problem {
  readonly tenantId: string;
  readonly severity: ReviewSeverity;
  readonly stage: ReviewStage;
  /** The code of the first fault, else the error code; of a warning its name. */
  readonly reason: string;
  readonly message: string;
  readonly details: readonly Fault[];
  readonly family: string;
  readonly payload: ReviewPayload;
  /** From the payload, as far as they can be stored. */
  readonly source?: string | undefined;
  readonly externalEventId?: string | undefined;
  readonly eventType?: string | undefined;
  /** The id of the event, or the id that it would get. */
  readonly eventId?: string | undefined;
  /** When it occurred, in epoch milliseconds. */
  readonly at: number;
  /**
   * The key of a problem that is recorded once. Absent: the event is the key, and each occurrence counts. Further
   * occurrences of a problem with this key are ignored: they do not count and do not reopen the entry.
   */
  readonly once?: readonly string[] | undefined;
}

/** A problem as it is stored: one row for all its occurrences. */
export interface NewReviewEntry extends Omit<Problem, 'payload' | 'once'> {
  readonly id: string;
  readonly once: boolean;
  readonly payload: string;
  readonly payloadForm: ReviewPayload['form'];
  readonly payloadState: StoredPayloadState | null;
  /** What counts against the daily limit of its workspace; `recording.sql.ts` computes the same. */
  readonly bytes: number;
}

/** A stored entry with its payload, unmasked: for a replay, not for views. */
export interface StoredEntry {
  readonly id: string;
  readonly severity: ReviewSeverity;
  readonly stage: ReviewStage;
  readonly status: ReviewStatus;
  readonly family: string;
  readonly source: string | null;
  readonly externalEventId: string | null;
  readonly eventType: string | null;
  /** The id of the event, or the id that it would get. */
  readonly eventId: string | null;
  readonly details: readonly Fault[];
  /** Null once its retention is over. */
  readonly payload: string | null;
  readonly payloadForm: ReviewPayload['form'];
  readonly payloadState: StoredPayloadState | null;
  readonly firstSeenAt: Date;
  readonly resolution: Readonly<Record<string, unknown>> | null;
}

/** The number of entries with the same reason, source or event type; `name` is null for entries without one. */
export interface ReviewGroup {
  readonly name: string | null;
  readonly count: number;
}

export interface ReviewCounts {
  readonly total: number;
  readonly byReason: readonly ReviewGroup[];
  readonly bySource: readonly ReviewGroup[];
  readonly byEventType: readonly ReviewGroup[];
}

/** What `reviewEntry` needs besides the problem. */
export interface EntryOptions {
  /** Derives an id from which nobody can infer the parts. */
  readonly idOf: (parts: readonly string[]) => string;
  /** The limit for JSON. Larger JSON cannot be an event and is not replayed, so that only its beginning is stored. */
  readonly jsonBytesMax: number;
}

/** The limit for a payload that cannot be replayed: a body that is no JSON, or JSON over its limit. */
const BEGINNING_BYTES_MAX = 64 * 1024;
/** The size of a row without its texts, with its index entries. */
export const ROW_BYTES = 512;
/** The default limit of a single event's body. JSON of this size is replayable even if the setting is smaller. */
export const JSON_BYTES_MAX = 256 * 1024;

/**
 * The id of a problem's entry. Problems with the same workspace, source, event id and reason share one entry. Without source
 * or event id, problems with the same payload do; the whole payload counts, also the part that is not stored.
 */
export function entryIdOf(
  { tenantId, source, externalEventId, reason, payload, once }: Problem,
  idOf: EntryOptions['idOf'],
): string {
  const ofEvent =
    source === undefined || externalEventId === undefined ? undefined : ['event', source, externalEventId];
  return idOf([tenantId, reason, ...(once ?? ofEvent ?? ['payload', hash('sha256', payload.text)])]);
}

/** Makes the entry of a problem. */
export function reviewEntry(problem: Problem, { idOf, jsonBytesMax }: EntryOptions): NewReviewEntry {
  const { payload, once, ...rest } = problem;
  const message = storableText(rest.message);
  const details = rest.details.map((fault) => ({ ...fault, path: storableText(fault.path) }));
  const stored = storedPayload(payload, jsonBytesMax);
  const texts = [stored.payload, message, JSON.stringify(details)];
  return {
    ...rest,
    ...stored,
    message,
    details,
    id: entryIdOf(problem, idOf),
    once: once !== undefined,
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), ROW_BYTES),
  };
}

type StoredPayload = Pick<NewReviewEntry, 'payload' | 'payloadForm' | 'payloadState'>;

function storedPayload(payload: ReviewPayload, jsonBytesMax: number): StoredPayload {
  const { form, text, isBeginning = false, isStripped = false } = payload;
  if (form === 'json' && !isBeginning && Buffer.byteLength(text) <= jsonBytesMax) {
    return { payload: text.toString(), payloadForm: 'json', payloadState: isStripped ? 'removed' : null };
  }
  const beginning = beginningOfText(text, BEGINNING_BYTES_MAX);
  // An escape makes six characters of one.
  const storable = beginningOfText(storableText(beginning.text), BEGINNING_BYTES_MAX);
  const isCut = isBeginning || beginning.isCut || storable.isCut;
  return { payload: storable.text, payloadForm: 'text', payloadState: isCut ? 'cut' : null };
}

/** Replaces U+0000, which PostgreSQL does not store, and lone surrogates. JSON text has escapes for both already. */
function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\\u0000');
}
