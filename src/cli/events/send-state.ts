import { open, readFile, rename, rm } from 'node:fs/promises';
import type { Family } from './family';
import { ClientFailure } from '../running-service';
import { fieldsOf, parseJson } from '../foreign-data';
import type { DoneLines } from './done-lines';
import type { Written } from './errors-file';
import type { Fingerprint } from './input';

/** What came of the lines that are done, each counted once, in whichever run. */
export interface Counts {
  readonly accepted: number;
  readonly duplicate: number;
  readonly errors: number;
}

export const NOTHING_COUNTED: Counts = { accepted: 0, duplicate: 0, errors: 0 };

/** What a run that was interrupted leaves to the one that goes on. */
export interface SendState {
  readonly format: typeof FORMAT;
  readonly fingerprint: Fingerprint;
  readonly url: string;
  /** Undefined as long as no event was read. */
  readonly family: Family | undefined;
  /** Absolute path. */
  readonly errors: string;
  readonly errorsWritten: Written;
  readonly done: DoneLines;
  readonly counts: Counts;
  /** Whether the service has answered for any line. Until then there is nothing to go on with. */
  readonly isAnswered: boolean;
  readonly seconds: number;
  readonly runs: number;
  /** Requests that were made again because the one before had failed. */
  readonly repeatedRequests: number;
}

export const FORMAT = 'cds events send 1';

/** Undefined when there is none. Throws `ClientFailure` (exit code 2) for a file that is something else. */
export async function readState(path: string): Promise<SendState | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (fieldsOf(error)['code'] === 'ENOENT') return undefined;
    throw new ClientFailure(`${path} cannot be read; it should be the state of an interrupted run.`, 2);
  });
  if (text === undefined) return undefined;
  const state = parseJson(text);
  // Written by this program, and only ever as a whole.
  if (fieldsOf(state)['format'] === FORMAT) return state as SendState;
  throw new ClientFailure(`${path} is not the state of an interrupted run. Name another file with --state.`, 2);
}

/** At any moment the file holds the state before or the state after, also if the power fails. */
export async function writeState(path: string, state: SendState): Promise<void> {
  const fresh = `${path}.tmp`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(state)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
}

/** To be called once every line is done: the next run of the file begins anew. */
export async function removeState(path: string): Promise<void> {
  await rm(path, { force: true });
}
