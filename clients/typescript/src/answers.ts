import { CampaignDataError, type CampaignDataErrorCode } from './errors.js';
import type { components } from './schema.js';
import type { EventResult } from './types.js';

type Problem = Partial<components['schemas']['ProblemDetails']>;

/** The JSON of a successful answer. Anything else comes from another server, or was cut off. */
export async function jsonOf<Body>(response: Response): Promise<Body> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Body;
  } catch {
    throw unexpected(response);
  }
}

/** The results of a batch of `count` events; throws CampaignDataError when the answer does not hold that many. */
export function resultsIn({ body, headers }: { body: unknown; headers: Headers }, count: number): EventResult[] {
  const { results } = typeof body === 'object' && body !== null ? (body as { results?: unknown }) : {};
  if (Array.isArray(results) && results.length === count) return results as EventResult[];
  throw unexpected({ status: 200, headers });
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
 * answer's own `Date`, because the clocks of client and server may differ. Undefined when the answer does not ask.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const said = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(said)) return Number(said) * 1_000;
  const wait = Date.parse(said) - Date.parse(headers.get('date') ?? '');
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

function unexpected(response: Pick<Response, 'status' | 'headers'>): CampaignDataError {
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
