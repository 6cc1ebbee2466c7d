import { ClientFailure } from '../running-service';
import { readState } from '../state-file';
import { NOTHING_DONE } from './done-lines';
import { ErrorsFile, NOTHING_WRITTEN } from './errors-file';
import { isSameFile, type Input } from './input';
import { SendLedger } from './ledger';
import { defaultStatePath, type SendOptions } from './send-options';
import { FORMAT, NOTHING_COUNTED, type SendState } from './send-state';

export interface OpenedLedger {
  readonly ledger: SendLedger;
  readonly errors: ErrorsFile;
}

/**
 * Goes on where an interrupted run has ended, or begins. `statePath` undefined: no state is saved. Throws `ClientFailure` (exit
 * code 2) for what does not fit together.
 */
export async function openLedger(
  input: Input,
  statePath: string | undefined,
  options: SendOptions,
): Promise<OpenedLedger> {
  const { errorsPath, restart } = options;
  const left = statePath === undefined || restart ? undefined : await readState<SendState>(statePath, FORMAT);
  // A run that was killed before any answer: of another file or to another address it does not matter.
  const found = left?.isAnswered === false ? undefined : left;
  if (found !== undefined) refuseAnother(found, input, options);
  const errors =
    found === undefined
      ? await ErrorsFile.create(errorsPath, restart || left?.errors === errorsPath)
      : await ErrorsFile.resume(errorsPath, found.errorsWritten);
  const state = found === undefined ? firstState(input, options) : { ...found, isAnswered: true, runs: found.runs + 1 };
  const ledger = new SendLedger(state, errors, statePath);
  // Before anything is written to the errors file, which would otherwise be taken for that of another run.
  try {
    await ledger.save();
  } catch (error) {
    await errors.close();
    throw error;
  }
  return { ledger, errors };
}

/** Undefined for a dry run, which has nothing to go on with, and for a pipe; what comes through a pipe cannot be gone back to. */
export function statePathOf({ file }: Input, { path, statePath, dryRun }: SendOptions): string | undefined {
  if (dryRun) return undefined;
  if (file !== undefined) return statePath ?? defaultStatePath(path);
  if (statePath === undefined) return undefined;
  throw new ClientFailure(
    '--state needs a file: what comes through a pipe cannot be gone back to. Send all of it again instead: what is stored answers `duplicate`.',
    2,
  );
}

function firstState({ file }: Input, { url, family, errorsPath }: SendOptions): SendState {
  return {
    format: FORMAT,
    fingerprint: file?.fingerprint ?? { bytes: 0, writtenAtMs: 0, sha256: '' },
    url,
    family,
    errors: errorsPath,
    errorsWritten: NOTHING_WRITTEN,
    done: NOTHING_DONE,
    counts: NOTHING_COUNTED,
    isAnswered: false,
    seconds: 0,
    runs: 1,
    repeatedRequests: 0,
  };
}

function refuseAnother(found: SendState, { file }: Input, { path, url, family, errorsPath }: SendOptions): void {
  const begun = `A run of ${path} was interrupted after line ${found.done.position.lines}`;
  const anew = 'To begin anew: --restart (what is stored already answers `duplicate`).';
  const differs = (what: string): ClientFailure => new ClientFailure(`${begun}, ${what} ${anew}`, 2);
  if (file === undefined || !isSameFile(found.fingerprint, file.fingerprint)) {
    throw differs('and the file was written since, or is a copy.');
  }
  if (found.url !== url) throw differs(`which sent to ${found.url}.`);
  if (family !== undefined && found.family !== undefined && found.family !== family) {
    throw differs(`which sent events of the family ${found.family}.`);
  }
  if (found.errors !== errorsPath) throw differs(`which noted errors in ${found.errors}.`);
}
