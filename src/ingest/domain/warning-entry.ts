import type { Problem, ReviewStage } from '../../review/domain/review-entry';
import type { CheckedEvent, IncomingEvent } from './incoming-event';
import type { WarningReason } from './outcome';
import { refusalProblem } from './refusal-problem';

interface WarnedEvent {
  readonly tenantId: string;
  readonly eventId: string;
  readonly event: IncomingEvent;
  readonly receivedAt: number;
  readonly text: () => string;
}

const WARNINGS: Readonly<Record<WarningReason, { readonly stage: ReviewStage; readonly message: string }>> = {
  payload_mismatch: {
    stage: 'validation',
    message:
      'An event with this source and id is stored already and says something else; the stored one stays. ' +
      'Give every fact an id of its own.',
  },
  identity_link_refused: {
    stage: 'identity',
    message: 'A weaker identifier of the event belongs to another customer and stays there.',
  },
  identity_limit_reached: {
    stage: 'identity',
    message: 'The customer has as many identifiers of this kind as one can have; the further one was not linked.',
  },
  clock_skew: {
    stage: 'validation',
    message: 'The event says that it occurs more than 24 hours from now; look at the clock of the sender.',
  },
  event_type_deprecated: {
    stage: 'contract',
    message:
      'The type of the event is deprecated; such events are still taken. This is the first one of the day; move its ' +
      'sender to the type that replaces it.',
  },
};

/** What one warning about a deprecated type is for: the type, and the day in UTC. */
export function deprecationOf(eventType: string, receivedAt: number): readonly string[] {
  return ['event_type', eventType, new Date(receivedAt).toISOString().slice(0, 'yyyy-mm-dd'.length)];
}

/** The warning about a copy of a stored event that is not well-formed any more. */
export function differingCopyProblem(tenantId: string, checked: CheckedEvent, at: number): Problem {
  const { stage, message } = WARNINGS.payload_mismatch;
  const refusal = { code: 'validation_failed', message, details: [] } as const;
  return { ...refusalProblem(tenantId, checked, refusal, at), severity: 'warning', stage, reason: 'payload_mismatch' };
}

/** What the review area keeps of an event that was taken with a warning (contract section 7). */
export function warningProblem(work: WarnedEvent, reason: WarningReason): Problem {
  const { tenantId, eventId, event, receivedAt, text } = work;
  return {
    tenantId,
    severity: 'warning',
    ...WARNINGS[reason],
    reason,
    details: [],
    family: event.family,
    source: event.source,
    externalEventId: event.externalEventId,
    eventType: event.eventType,
    eventId,
    payload: { form: 'json', text: text() },
    at: receivedAt,
    ...(reason === 'event_type_deprecated' ? { once: deprecationOf(event.eventType, receivedAt) } : {}),
  };
}
