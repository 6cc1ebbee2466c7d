/** One fault of a request; `path` names the field as the request wrote it. */
export interface ErrorDetail {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A call that was answered with an error (RFC 9457), or not answered at all (status 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly errorCode: string,
    message: string,
    readonly requestId: string | undefined,
    readonly details: readonly ErrorDetail[] = [],
  ) {
    super(message);
  }
}

interface Problem {
  readonly error_code?: string;
  readonly message?: string;
  readonly title?: string;
  readonly request_id?: string;
  readonly details?: readonly ErrorDetail[];
}

export async function errorOf(response: Response): Promise<ApiError> {
  const problem = await response.json().then(
    (body: unknown) => (typeof body === 'object' && body !== null ? (body as Problem) : {}),
    (): Problem => ({}),
  );
  return new ApiError(
    response.status,
    problem.error_code ?? 'unknown',
    problem.message ?? problem.title ?? `The service answered ${response.status}.`,
    problem.request_id ?? response.headers.get('x-request-id') ?? undefined,
    problem.details,
  );
}

export function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', 'The service did not answer. Check the connection and try again.', undefined);
}

/** The service has answered, and the connection was lost before the end of it. */
export function cutOff({ headers }: Response): ApiError {
  const message = 'The service has answered, but not all of it has arrived. Load the page again to see what is stored.';
  return new ApiError(0, 'cut_off', message, headers.get('x-request-id') ?? undefined);
}
