import { isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { parseTimestamp } from '../../platform/values/timestamp';
import type { Problem, ReviewStage } from '../../review/domain/review-entry';
import { FIELD_NAMES } from './field-names';
import { eventIdOf, OTHER_THAN_EXPIRED } from './deduplication';
import type { Event } from './event';
import type { Refusal, StoredResult, WarningReason } from './ingest-result';
import type { Submission } from './submission';

/** Code points. Longer text in these fields is a fault itself, and is found in the payload. */
const SHOWN_CHARACTERS_MAX = 256;

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

/** Faults name fields, and a client may use an identifier as the name of one. */
const FAULTS_NOT_KEPT = { message: 'It names a person who was erased, so its faults are not kept.', details: [] };

/** The same problem about an erased person, with what is kept of the payload. */
export function withoutErasedPerson(problem: Problem, payload: Problem['payload']): Problem {
  return { ...problem, ...(problem.details.length === 0 ? {} : FAULTS_NOT_KEPT), payload };
}

/**
 * What the review area keeps of a refused event (contract section 7): all that was sent, and why it was refused. Of one that
 * names an erased person (`namesErased`) it keeps only which event it was.
 */
export function refusalProblem(
  tenantId: string,
  submission: Submission,
  refusal: Refusal,
  at: number,
  namesErased = refusal.code === 'profile_erased',
): Problem {
  const { family, value: payload } = submission;
  const names = FIELD_NAMES[family];
  const problem: Problem = {
    tenantId,
    severity: 'error',
    stage: stageOf(refusal),
    reason: refusal.details[0]?.code ?? refusal.code,
    message: refusal.message,
    details: refusal.details,
    family,
    source: textField(payload, names.source),
    externalEventId: textField(payload, names.externalEventId),
    eventType: textField(payload, names.eventType),
    eventId: eventIdOfSubmission(tenantId, submission),
    payload: wholePayload(submission),
    at,
  };
  return namesErased ? withoutErasedPerson(problem, withoutPerson(submission)) : problem;
}

/** The step that stopped an event with this refusal. */
function stageOf({ code, details }: Refusal): ReviewStage {
  if (code === 'source_not_allowed') return 'authorization';
  if (code === 'identity_conflict' || code === 'profile_erased') return 'identity';
  const contract = details[0]?.code === 'unregistered_event_type' || details[0]?.path.startsWith('properties') === true;
  return contract ? 'contract' : 'validation';
}

/**
 * What the review area keeps of an event that was taken with a warning (contract section 7). Of a copy of an expired event it
 * keeps no personal data: nobody knows any more whose event that was, and they may be erased. Nor of a copy that names an
 * erased person (`namesErased`) instead of the one whose event is stored.
 */
export function warningProblem(
  event: Event,
  reason: WarningReason,
  { storedHash }: StoredResult,
  namesErased = false,
): Problem {
  const { tenantId, eventId, receivedAt, family, source, externalEventId, eventType, submission } = event;
  return {
    tenantId,
    severity: 'warning',
    ...WARNINGS[reason],
    reason,
    details: [],
    family,
    source,
    externalEventId,
    eventType,
    eventId,
    payload: payloadOfCopy(submission, storedHash, namesErased),
    // An erasure searches the entries that were seen since it began: a replayed event may have been received days before.
    at: submission.replay === undefined ? receivedAt : Date.parse(submission.replay.attempt.at),
    ...(reason === 'event_type_deprecated' ? { once: deprecationOf(eventType, receivedAt) } : {}),
  };
}

/** The warning about a copy of a stored event that is refused now and says something else; as `warningProblem` keeps it. */
export function differingCopyProblem(
  tenantId: string,
  submission: Submission,
  { storedHash }: StoredResult,
  at: number,
  namesErased: boolean,
): Problem {
  const { stage, message } = WARNINGS.payload_mismatch;
  const refusal = { code: 'validation_failed', message, details: [] } as const;
  const problem = refusalProblem(tenantId, submission, refusal, at);
  const payload = payloadOfCopy(submission, storedHash, namesErased);
  return { ...problem, severity: 'warning', stage, reason: 'payload_mismatch', payload };
}

/** Nobody knows any more whose event an expired one was. */
function payloadOfCopy(submission: Submission, storedHash: string, namesErased: boolean): Problem['payload'] {
  return storedHash === OTHER_THAN_EXPIRED || namesErased ? withoutPerson(submission) : wholePayload(submission);
}

function wholePayload(submission: Submission): Problem['payload'] {
  return { form: 'json', text: submission.text() };
}

/** What one warning about a deprecated type is for: the type, and the day in UTC. */
export function deprecationOf(eventType: string, receivedAt: number): readonly string[] {
  return ['event_type', eventType, new Date(receivedAt).toISOString().slice(0, 'yyyy-mm-dd'.length)];
}

/** The id that a refused event has or would have; undefined when its source or its own id is not usable text. */
export function eventIdOfSubmission(
  tenantId: string,
  { family, value }: Pick<Submission, 'family' | 'value'>,
): string | undefined {
  const source = textField(value, FIELD_NAMES[family].source);
  const externalEventId = textField(value, FIELD_NAMES[family].externalEventId);
  return source === undefined || externalEventId === undefined
    ? undefined
    : eventIdOf(tenantId, source, externalEventId);
}

/**
 * Neither the identity of an erased person is kept nor what the event says of them: only which event it was, as far as its
 * fields are what they should be.
 */
function withoutPerson({ value: payload, family }: Submission): Problem['payload'] {
  const { source, externalEventId, eventType, occurredAt } = FIELD_NAMES[family];
  const kept = [source, externalEventId, eventType, occurredAt].flatMap((name) => {
    const text = textField(payload, name);
    return text === undefined || (name === occurredAt && !('at' in parseTimestamp(text)))
      ? []
      : [[name, text] as const];
  });
  return { form: 'json', text: JSON.stringify(Object.fromEntries(kept)), isStripped: true };
}

/** A field of the payload if it is text that can be stored beside it. */
function textField(payload: unknown, name: string): string | undefined {
  const value = isObject(payload) ? payload[name] : undefined;
  if (typeof value !== 'string' || value === '' || hasMoreCharacters(value, SHOWN_CHARACTERS_MAX)) return undefined;
  return isStorable(value) ? value : undefined;
}
