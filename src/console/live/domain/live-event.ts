import type { EventFamily } from '../../../ingest/domain/submission';
import { submissionNames, submittedEventId } from '../../../ingest/domain/field-names';
import type { WatchedAnswer } from '../../../ingest/answered-events';

export const LIVE_RESULTS = ['accepted', 'duplicate', 'refused'] as const;
export type LiveResult = (typeof LIVE_RESULTS)[number];

/** By what live events are filtered and counted. Names are null where they could not be read. */
export interface LiveGroup {
  readonly family: EventFamily;
  readonly source: string | null;
  readonly eventType: string | null;
  readonly result: LiveResult;
}

/** One answered event as the console shows it: never with an identity or a property. */
export interface LiveEvent extends LiveGroup {
  /** When it was answered. */
  readonly at: string;
  /** The id under which the event is stored; null for a refused one. */
  readonly eventId: string | null;
  /** The sender's own id; null where it could not be read. */
  readonly id: string | null;
  /** Warnings of a stored event; the first codes of a refused one. */
  readonly codes: readonly string[];
  /** The review entry of a refused event. */
  readonly entryId?: string;
}

/** Events that are counted only; `group` is null where there were too many groups to tell them apart. */
export interface LiveCount {
  readonly group: LiveGroup | null;
  readonly events: number;
}

/** What one process passes on at a time. */
export interface LiveBundle {
  readonly events: readonly LiveEvent[];
  readonly notShown: readonly LiveCount[];
}

const CODES_MAX = 5;

/** The group of an answered event. */
export function liveGroup({ family, value, result: { status } }: WatchedAnswer): LiveGroup {
  const { source = null, eventType = null } = submissionNames(family, value);
  return { family, source, eventType, result: status === 'error' ? 'refused' : status };
}

/** What is shown of an answered event. */
export function liveEvent(
  { family, value, result }: WatchedAnswer,
  group: LiveGroup,
  at: Date,
  entryId: string | undefined,
): LiveEvent {
  const id = submittedEventId(family, value) ?? null;
  const shown = { at: at.toISOString(), ...group, id };
  if (result.status !== 'error') return { ...shown, eventId: result.eventId, codes: result.warnings };
  const { code, details } = result.refusal;
  const codes = [...new Set(details.map((fault) => fault.code))].slice(0, CODES_MAX);
  return {
    ...shown,
    eventId: null,
    codes: codes.length === 0 ? [code] : codes,
    ...(entryId === undefined ? {} : { entryId }),
  };
}
