import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { checkKey, checkUrl, DEFAULT_URL, firstSet } from '../client/address';
import { ClientFailure } from '../client/client-failure';

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

/** Throws `ClientFailure` (exit code 2) for what cannot be meant. */
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
