import type { Request, Response } from 'express';

/** Browsers accept this name over HTTPS only, so that nobody on the line can set it. */
const SECURE_NAME = '__Secure-cds_console';
/** Over plain HTTP on a loopback address. */
const LOCAL_NAME = 'cds_console';
const ATTRIBUTES = 'Path=/console; HttpOnly; SameSite=Strict';
/** 32 bytes in base64url. */
const SECRET = /^[\w-]{43}$/;
const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * The secret in the cookie of a request; undefined without one. Two cookies of one name are none: a page of a neighbouring
 * domain may have set one of them, and nothing shows which.
 */
export function sessionSecretOf(request: Request): string | undefined {
  const values = cookiesNamed(SECURE_NAME, request);
  const [value, ...others] = values.length === 0 && isLoopback(request) ? cookiesNamed(LOCAL_NAME, request) : values;
  return value !== undefined && others.length === 0 && SECRET.test(value) ? value : undefined;
}

/** Gives the secret of a session to the browser, which forgets it when it is closed, if not before. */
export function setSessionCookie(request: Request, response: Response, secret: string): void {
  const cookie = isPlainLoopback(request)
    ? `${LOCAL_NAME}=${secret}; ${ATTRIBUTES}`
    : `${SECURE_NAME}=${secret}; ${ATTRIBUTES}; Secure`;
  response.append('Set-Cookie', cookie);
}

/** Has the browser forget the cookie. */
export function clearSessionCookie(request: Request, response: Response): void {
  response.append('Set-Cookie', `${SECURE_NAME}=; ${ATTRIBUTES}; Secure; Max-Age=0`);
  if (isLoopback(request)) response.append('Set-Cookie', `${LOCAL_NAME}=; ${ATTRIBUTES}; Max-Age=0`);
}

/** The values of all cookies of this name. */
export function cookiesNamed(name: string, { headers: { cookie = '' } }: Request): string[] {
  const pairs = cookie.split(';').map((pair) => pair.trim());
  return pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? pair.slice(name.length + 1) : []));
}

/**
 * Whether the browser speaks plain HTTP with a loopback address. It says so itself in `Origin`: behind a proxy the service
 * sees neither the address nor the protocol. Everything that hints at HTTPS makes the cookie `Secure`.
 */
export function isPlainLoopback(request: Request): boolean {
  const { origin, 'x-forwarded-proto': protocol = 'http' } = request.headers;
  if (origin === undefined) return isLoopback(request) && !request.secure && protocol === 'http';
  return /^http:/.test(origin) && LOOPBACK.test(hostnameOf(origin));
}

function isLoopback({ host }: Request): boolean {
  return LOOPBACK.test(hostnameOf(`http://${host}`));
}

function hostnameOf(address: string): string {
  return URL.canParse(address) ? new URL(address).hostname : '';
}
