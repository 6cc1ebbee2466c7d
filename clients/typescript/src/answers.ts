import { CampaignDataError, type CampaignDataErrorCode } from './errors.js';
import type { components } from './schema.js';

type Problem = Partial<components['schemas']['ProblemDetails']>;

/** The JSON of a good answer; what is no JSON comes from somebody else, or was cut off on its way. */
export async function jsonOf<Body>(response: Response): Promise<Body> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Body;
  } catch {
    throw unexpected(response);
  }
}

/** An answer that is no success, as an error. Proxies answer in forms of their own. */
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

/** `cause` is what fetch has thrown. It knows the address and the network, and not what was sent. */
export function networkError(errorCode: 'network_error' | 'timeout', cause: unknown): CampaignDataError {
  const words: Record<typeof errorCode, string> = {
    network_error: 'The service could not be reached, or the connection broke.',
    timeout: 'The service did not answer in time.',
  };
  return new CampaignDataError({ message: words[errorCode], status: 0, errorCode, cause });
}

/**
 * How long an answer asks to wait: seconds, or a date, which is measured by the clock of whoever has written it; undefined when
 * it does not say.
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

function unexpected(response: Response): CampaignDataError {
  const errorCode: CampaignDataErrorCode = 'unexpected_answer';
  return new CampaignDataError({
    message: `The answer with status ${response.status} is not one of the service.`,
    ...{ status: response.status, errorCode, requestId: requestIdOf(response) },
    retryAfterMs: retryAfterMs(response.headers),
  });
}

function requestIdOf(response: Response): string | undefined {
  return response.headers.get('x-request-id') ?? undefined;
}
