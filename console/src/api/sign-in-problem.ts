import { BASE_PATH } from './api';
import { ApiError } from './api-error';

interface Content {
  readonly status: number;
  readonly message: string;
  readonly requestId: string;
}

/**
 * Why a sign-in at the identity provider has failed, where the service has opened the console with that. The address leads to
 * the start from then on: loading it again would repeat the failed sign-in.
 */
export function takeSignInProblem(): ApiError | undefined {
  const text = document.querySelector<HTMLMetaElement>('meta[name="cds-problem"]')?.content;
  if (text === undefined) return undefined;
  history.replaceState(null, '', `${BASE_PATH}/`);
  const { status, message, requestId } = JSON.parse(text) as Content;
  return new ApiError(status, 'sign_in_failed', message, requestId);
}
