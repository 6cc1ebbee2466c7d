import { CampaignDataError, type CampaignDataErrorCode } from './errors.js';
import type { components } from './schema.js';
import type { Accepted, Duplicate, EventResult } from './types.js';

type Problem = Partial<components['schemas']['ProblemDetails']>;
type AnswerHead = Pick<Response, 'status' | 'headers'>;

/**
 * The JSON of a successful answer; a list of it where the answer has lines of JSON. Anything else comes from another server, or
 * was cut off.
 */
export async function jsonOf<Body>(response: Response): Promise<Body> {
  const text = await response.text();
  const hasLines = /^application\/x-ndjson\b/i.test(response.headers.get('content-type') ?? '');
  try {
    return JSON.parse(hasLines ? `[${text.trim().replaceAll('\n', ',')}]` : text) as Body;
  } catch {
    throw unexpected(response);
  }
}

/** The results of a batch of `count` events; throws CampaignDataError when the answer does not hold that many. */
export function resultsIn(answer: AnswerHead & { readonly body: unknown }, count: number): EventResult[] {
  const { results } = fieldsOf(answer.body);
  if (Array.isArray(results) && results.length === count && results.every(isResult)) return results;
  throw unexpected(answer);
}

/** Whether the service says that an event is stored, and under which id. */
export function isStored(result: unknown): result is Accepted | Duplicate {
  const { status, event_id: eventId, original_event_id: originalId } = fieldsOf(result);
  if (status === 'accepted') return typeof eventId === 'string';
  return status === 'duplicate' && typeof originalId === 'string';
}

function isResult(result: unknown): result is EventResult {
  const { status, error_code: errorCode, details } = fieldsOf(result);
  return isStored(result) || (status === 'error' && typeof errorCode === 'string' && Array.isArray(details));
}

/** Whether the body shows the values of a participant. */
export function hasState(body: unknown): boolean {
  return typeof fieldsOf(body)['state'] === 'object';
}

/** Whether the body says that a mutation has taken effect. */
export function hasMutations(body: unknown): boolean {
  return Array.isArray(fieldsOf(body)['mutations']);
}

/** Of a value that may be anything. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The error that an answer without success stands for. Proxies answer in forms of their own. */
export async function errorOf(response: Response): Promise<CampaignDataError> {
  const problem = await problemOf(response);
  if (typeof problem?.error_code !== 'string') return unexpected(response);
  return new CampaignDataError({
    message: problem.message ?? problem.title ?? problem.error_code,
    status: response.status,
    errorCode: problem.error_code,
    details: problem.details ?? [],
    requestId: problem.request_id ?? requestIdOf(response),
    path: problem.path,
    retryAfterMs: retryAfterMs(response.headers),
  });
}

/** `cause` is the error of fetch. It names the address and the fault, and does not repeat what was sent. */
export function networkError(errorCode: 'network_error' | 'timeout', cause: unknown): CampaignDataError {
  const words: Record<typeof errorCode, string> = {
    network_error: 'The service could not be reached, or the connection broke.',
    timeout: 'The service did not answer in time.',
  };
  return new CampaignDataError({ message: words[errorCode], status: 0, errorCode, cause });
}

/**
 * Milliseconds that an answer asks the client to wait (RFC 9110, 10.2.3): seconds, or a date. The date is compared with the
 * answer's own `Date`, because the clocks of client and server may differ; with ours where it has none. Undefined when the
 * answer does not ask.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const said = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(said)) return Number(said) * 1_000;
  const sentAt = Date.parse(headers.get('date') ?? '');
  // eslint-disable-next-line no-restricted-syntax -- a client has no Clock, and dates are of the time of day
  const wait = Date.parse(said) - (Number.isNaN(sentAt) ? Date.now() : sentAt);
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

async function problemOf(response: Response): Promise<Problem | undefined> {
  try {
    const body: unknown = JSON.parse(await response.text());
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The error of an answer that the service does not give. */
export function unexpected(response: AnswerHead): CampaignDataError {
  const errorCode: CampaignDataErrorCode = 'unexpected_answer';
  return new CampaignDataError({
    message: `The answer with status ${response.status} is not one of the service.`,
    status: response.status,
    errorCode,
    requestId: requestIdOf(response),
    retryAfterMs: retryAfterMs(response.headers),
  });
}

function requestIdOf(response: Pick<Response, 'headers'>): string | undefined {
  return response.headers.get('x-request-id') ?? undefined;
}
