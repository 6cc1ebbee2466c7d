import { ClientFailure } from './client-failure';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** The first value that says anything, without the white space around it. */
export function firstSet(...values: (string | undefined)[]): string | undefined {
  return values.map((value) => value?.trim()).find((value) => value !== undefined && value !== '');
}

/** The address of a service, without a slash at its end. Throws `ClientFailure` (exit code 2) for what is none. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new ClientFailure(`The address of the service must look like ${DEFAULT_URL} (--url or CDS_URL).`, 2);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ClientFailure('The address of the service must not hold a password; the key goes into CDS_API_KEY.', 2);
  }
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '');
}

/** A key as it can stand in a header; `missing` says where it is to come from. */
export function checkKey(key: string | undefined, missing: string): string {
  if (key === undefined) throw new ClientFailure(missing, 2);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ClientFailure('The key has characters that no key has; copy it again.', 2);
  return key;
}
