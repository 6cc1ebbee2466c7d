import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { parseEnv } from 'node:util';
import { isSupportedCountry } from 'libphonenumber-js/min';

/** How one environment variable is read; `.env.example` documents the same names, and a test holds the two together. */
interface Setting<T> {
  readonly variable: string;
  readonly description: string;
  /** Gets the text, or undefined when unset or empty; throws a `SettingFault` with words for the operator. */
  readonly parse: (text: string | undefined) => T;
}

export function setting<T>(variable: string, description: string, parse: (text: string | undefined) => T): Setting<T> {
  return { variable, description, parse };
}

/** What is wrong with the text of a variable, in words for the operator. */
export class SettingFault extends Error {}

export const optionalText = (text: string | undefined): string | undefined => text;

export function textOr(fallback: string): (text: string | undefined) => string {
  return (text) => text ?? fallback;
}

export function integer(min: number, max: number, fallback: number): (text: string | undefined) => number {
  return (text) => {
    if (text === undefined) return fallback;
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new SettingFault(`must be a whole number from ${min} to ${max}`);
    return value;
  };
}

const WORKERS_MAX = 64;

export function processes(text: string | undefined): number {
  if (text === 'auto') return Math.min(availableParallelism(), WORKERS_MAX);
  if (text !== undefined && !/^\d+$/.test(text)) {
    throw new SettingFault(`must be auto or a whole number from 1 to ${WORKERS_MAX}`);
  }
  return integer(1, WORKERS_MAX, 1)(text);
}

export function oneOf<const T extends string>(values: readonly T[], fallback: T): (text: string | undefined) => T {
  return (text) => {
    if (text === undefined) return fallback;
    const found = values.find((value) => value === text);
    if (found === undefined) throw new SettingFault(`must be one of ${values.join(', ')}`);
    return found;
  };
}

export function matching(
  pattern: RegExp,
  words: string,
  fallback?: string,
): (text: string | undefined) => string | undefined {
  return (text) => {
    if (text !== undefined && !pattern.test(text)) throw new SettingFault(words);
    return text ?? fallback;
  };
}

export function optional<T>(parse: (text: string) => T): (text: string | undefined) => T | undefined {
  return (text) => (text === undefined ? undefined : parse(text));
}

export function commaList(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

const DATABASE_ADDRESS = /^postgres(?:ql)?:\/\/\S+$/;

/** Without a host, the address of a socket is in the query. */
export function databaseAddress(text: string | undefined): string | undefined {
  if (text === undefined || (DATABASE_ADDRESS.test(text) && isReadable(text.replace('@/', '@localhost/')))) return text;
  throw new SettingFault(
    'must be an address that starts with postgresql://, with special characters of the password as %XX (# is %23)',
  );
}

/** Whether it is a URL whose user and password can be read: a % that begins no %XX ends the start with words of a library. */
function isReadable(address: string): boolean {
  try {
    const { username, password } = new URL(address);
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

export function phoneRegion(text: string | undefined): string | undefined {
  if (text === undefined || (/^[A-Z]{2}$/.test(text) && isSupportedCountry(text))) return text;
  throw new SettingFault('must be two capital letters of a country with phone numbers, for example DE');
}

const COLLECTOR_ADDRESS = /^https?:\/\/[^\s?#]+$/;

export function collectorAddress(text: string | undefined): string | undefined {
  if (text === undefined || (COLLECTOR_ADDRESS.test(text) && URL.canParse(text))) return text;
  throw new SettingFault('must be an address such as http://collector:4318');
}

const ORIGIN = /^https?:\/\/[^\s/]+$/;

/** As browsers send them: in lower case, without the usual port. */
export function origins(text: string | undefined): readonly string[] {
  const list = commaList(text ?? '*');
  if (list.every((origin) => origin === '*' || (ORIGIN.test(origin) && URL.canParse(origin)))) {
    return list.map((origin) => (origin === '*' ? origin : new URL(origin).origin));
  }
  throw new SettingFault('must be * or origins such as https://shop.example.com, separated by commas');
}

const DNS_SERVER = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/;
const PORT_MAX = 65_535;

function isDnsServer(text: string): boolean {
  const [, ipv6, ipv4, port = '53'] = DNS_SERVER.exec(text) ?? [];
  return isIP(text) !== 0 || (isIP(ipv6 ?? ipv4 ?? '') !== 0 && Number(port) >= 1 && Number(port) <= PORT_MAX);
}

export function dnsServers(text: string | undefined): readonly string[] {
  const list = commaList(text);
  if (list.every(isDnsServer)) return list;
  throw new SettingFault('must be IP addresses, such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53, separated by commas');
}

/** The file `.env` is there and cannot be read, such as a folder that a container engine has made in its place. */
export class EnvironmentFileError extends Error {
  override readonly name = 'EnvironmentFileError';
}

/** What a file such as `.env` sets; nothing where there is none. Throws `EnvironmentFileError`. */
export function variablesOf(file: string): Readonly<Record<string, string | undefined>> {
  if (!existsSync(file)) return {};
  try {
    // Editors on Windows may begin it with a byte order mark, which is no part of the first name.
    return parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new EnvironmentFileError(
      `${file} cannot be read (${code}). Let it be a file that this user can read, or remove it.`,
    );
  }
}
