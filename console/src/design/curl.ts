import { BASE_PATH } from '../api/api';

export interface CurlRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the service, e.g. `/v1/external-events`. */
  readonly path: string;
  readonly body?: unknown;
}

/** A command for a shell, which reads the key from the variable KEY. */
export function curlCommand({ method = 'GET', path, body }: CurlRequest): string {
  const service = `${location.origin}${BASE_PATH.replace(/\/console$/, '')}`;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(`${service}${path}`)}`];
  lines.push('-H "Authorization: Bearer $KEY"');
  if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll(`'`, `'\\''`)}'`;
}
