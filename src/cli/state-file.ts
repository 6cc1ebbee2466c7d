import { open, readFile, rename, rm } from 'node:fs/promises';
import { fieldsOf, parseJson } from './foreign-data';
import { ClientFailure } from './running-service';

/** What a run that was interrupted leaves to the one that goes on; `format` names the command and the version of its state. */
interface SavedState {
  readonly format: string;
}

/** Undefined when there is none. Throws `ClientFailure` (exit code 2) for a file that is something else. */
export async function readState<State extends SavedState>(
  path: string,
  format: State['format'],
): Promise<State | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (fieldsOf(error)['code'] === 'ENOENT') return undefined;
    throw new ClientFailure(`${path} cannot be read; it should be the state of an interrupted run.`, 2);
  });
  if (text === undefined) return undefined;
  const state = parseJson(text);
  // Written by this program, and only ever as a whole.
  if (fieldsOf(state)['format'] === format) return state as State;
  throw new ClientFailure(`${path} is not the state of an interrupted run. Name another file with --state.`, 2);
}

/** At any moment the file holds the state before or the state after, also if the power fails. */
export async function writeState(path: string, state: SavedState): Promise<void> {
  const fresh = `${path}.tmp`;
  try {
    const handle = await open(fresh, 'w', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(state)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

/** To be called once everything is done: the next run begins anew. */
export async function removeState(path: string): Promise<void> {
  await rm(path, { force: true });
}
