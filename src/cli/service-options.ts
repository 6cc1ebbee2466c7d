import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { ClientFailure } from './running-service';

export const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Which service, and with which key, as commander gives it. */
export interface GivenService {
  readonly url?: string;
  readonly key?: string;
  readonly keyFile?: string;
}

export interface ServiceOptions {
  readonly url: string;
  readonly key: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Of a command, such as `events send`: what its key has to allow. */
export interface KeyUse {
  readonly command: string;
  readonly may: string;
}

const KEY_IN_ARGUMENTS =
  'A key among the arguments can be seen by every user of this machine, and stays in the history of the shell. Put it into CDS_API_KEY, or into a file for --key-file; the one that was given here should be rotated.';

/** The options of every command that is a client of a running service. */
export function addServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the service (default: CDS_URL, or http://127.0.0.1:3000)')
    .option('--key-file <path>', 'a file with the API key (default: CDS_API_KEY)')
    .addOption(new Option('--key <key>').hideHelp());
}

/** Throws `ClientFailure` (exit code 2) for an invalid address or key. */
export async function readServiceOptions(
  { url, key, keyFile }: GivenService,
  environment: Environment,
  { command, may }: KeyUse,
): Promise<ServiceOptions> {
  if (key !== undefined) throw new ClientFailure(KEY_IN_ARGUMENTS, 2);
  const noKey = `A key is needed that may ${may}: set CDS_API_KEY, or name a file that holds one (--key-file). See "cds ${command} --help".`;
  const found = keyFile === undefined ? environment['CDS_API_KEY'] : await keyIn(keyFile);
  return {
    url: checkUrl(firstSet(url, environment['CDS_URL']) ?? DEFAULT_URL),
    key: checkKey(firstSet(found), noKey),
  };
}

async function keyIn(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new ClientFailure('The file of --key-file cannot be read.', 2);
  });
}

/** The first value that is not blank, without the white space around it. */
export function firstSet(...values: (string | undefined)[]): string | undefined {
  return values.map((value) => value?.trim()).find((value) => value !== undefined && value !== '');
}

/** The address of a service, without a slash at its end. Throws `ClientFailure` (exit code 2) for any other text. */
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

/** A key that can be sent in a header. Throws `ClientFailure` (exit code 2), with `missing` when there is no key. */
export function checkKey(key: string | undefined, missing: string): string {
  if (key === undefined) throw new ClientFailure(missing, 2);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ClientFailure('The key has characters that no key has; copy it again.', 2);
  return key;
}
