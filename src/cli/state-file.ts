import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { writeFailure } from './file-failures';
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

/** At any moment the file holds the state before or the state after, also if the power fails. Throws `ClientFailure`. */
export async function writeState(path: string, state: SavedState): Promise<void> {
  await refuseSpecialFile(path);
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
    // Its failure would hide the first one.
    await rm(fresh, { force: true }).catch(() => undefined);
    throw writeFailure(path, error);
  }
}

/** To be called once everything is done: the next run begins anew. Throws `ClientFailure`. */
export async function removeState(path: string): Promise<void> {
  await refuseSpecialFile(path);
  await rm(path, { force: true }).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
}

/** A device or a folder is neither replaced nor removed. Throws `ClientFailure` (exit code 2). */
export async function refuseSpecialFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== false) return;
  throw new ClientFailure(`${path} is no regular file. Name another one with --state.`, 2);
}
