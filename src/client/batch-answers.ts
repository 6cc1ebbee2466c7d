import { fieldsOf } from './foreign-data';

export const EVENT_BATCH_PATHS = { external: '/v1/external-events:batch', cdp: '/v1/cdp/events/batch' } as const;
export type Family = keyof typeof EVENT_BATCH_PATHS;

export interface ErrorAnswer {
  readonly status: 'error';
  readonly errorCode: string;
  readonly message: string;
  /** As the service sent them. */
  readonly details: readonly unknown[];
}

/** What the service made of one event. */
export type Answer = { readonly status: 'accepted' | 'duplicate'; readonly eventId: string } | ErrorAnswer;

/** The results of a batch, in its order; undefined when the body is not the answer to `count` events. */
export function readAnswers(body: unknown, count: number): readonly Answer[] | undefined {
  const { results } = fieldsOf(body);
  if (!Array.isArray(results) || results.length !== count) return undefined;
  const answers = results.map(readAnswer).filter((answer) => answer !== undefined);
  return answers.length === count ? answers : undefined;
}

/** The error that a result, or a whole answer, tells of; undefined when it is none of the service's. */
export function readError(result: unknown): ErrorAnswer | undefined {
  const { error_code, message, details } = fieldsOf(result);
  if (typeof error_code !== 'string' || typeof message !== 'string') return undefined;
  return { status: 'error', errorCode: error_code, message, details: Array.isArray(details) ? details : [] };
}

/** Whether the event itself is right, and could only not be taken at that moment. */
export function isUnavailable(answer: Answer): boolean {
  return answer.status === 'error' && answer.errorCode === 'unavailable';
}

function readAnswer(result: unknown): Answer | undefined {
  const { status, event_id, original_event_id } = fieldsOf(result);
  if (status === 'accepted' && typeof event_id === 'string') return { status, eventId: event_id };
  if (status === 'duplicate' && typeof original_event_id === 'string') return { status, eventId: original_event_id };
  return status === 'error' ? readError(result) : undefined;
}
