import { hash } from 'node:crypto';
import type { Fault } from '../../platform/errors/fault';
import { nameId } from '../../platform/ids/ids';

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
  readonly text: string;
}

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
}

/** Of a body that is no JSON; the largest has 5 MiB, and escapes may make six characters of one, of which the end is not worth keeping. */
const PAYLOAD_CHARACTERS_MAX = 5 * 1024 * 1024;
const PIECE_CHARACTERS = 64 * 1024;

/**
 * Same workspace, source, event id and reason: one entry with a count; without source or id, the same payload is the
 * same problem. The id is made from just that.
 */
export function reviewEntry({ payload, once, ...problem }: Problem): NewReviewEntry {
  const text = payload.form === 'json' ? payload.text : cleanedBeginning(payload.text);
  const { tenantId, source, externalEventId, reason, message, details } = problem;
  const ofEvent =
    source === undefined || externalEventId === undefined ? undefined : ['event', source, externalEventId];
  const subject = once ?? ofEvent ?? ['payload', hash('sha256', text)];
  const words = {
    message: cleaned(message),
    details: details.map((fault) => ({ ...fault, path: cleaned(fault.path) })),
  };
  return {
    ...{ ...problem, ...words },
    id: nameId([tenantId, reason, ...subject]),
    once: once !== undefined,
    payload: text,
    payloadForm: payload.form,
  };
}

/** Piece by piece: of millions of characters that need an escape, those whose escapes are not kept get none. */
function cleanedBeginning(text: string): string {
  const wellFormed = text.toWellFormed();
  let beginning = '';
  for (let at = 0; at < wellFormed.length && beginning.length < PAYLOAD_CHARACTERS_MAX; at += PIECE_CHARACTERS) {
    beginning += escaped(wellFormed.slice(at, at + PIECE_CHARACTERS));
  }
  return beginning.slice(0, PAYLOAD_CHARACTERS_MAX);
}

/** PostgreSQL's text takes no U+0000, and UTF-8 no lone surrogate; JSON text has escapes for both already. */
function cleaned(text: string): string {
  return escaped(text.toWellFormed());
}

function escaped(text: string): string {
  return text.replaceAll('\u0000', '\\u0000');
}
