import { mkdir, rmdir } from 'node:fs/promises';
import { ClaimedElsewhereError, claimFolder, type FolderClaim } from '../platform/postgres/embedded/folder-claim';
import { isErrno } from '../platform/errors/error-summary';
import { writeFailure } from './file-failures';
import { ClientFailure } from './running-service';

/** A run that ends at this moment is waited for. */
const TIMING = { patienceMs: 1_000, heartbeatMs: 1_000, silenceMs: 6_000 };

/**
 * Claims a file for this run, in a folder beside it: two runs that go on with the same state would do everything twice, and two
 * that write the same output would take it from each other. The claim of a process that was killed does not count. Throws
 * `ClientFailure` (exit code 2) while another run has it; `does`: what that one does.
 */
export async function claimRun(path: string, does: string): Promise<FolderClaim> {
  const folder = `${path}.claims`;
  try {
    // Without the folders above it: a mistyped path should not create any.
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (!isErrno(error, 'EEXIST')) throw error;
    });
    const claim = await claimFolder(folder, TIMING);
    return { release: () => releaseIn(folder, claim) };
  } catch (error) {
    if (!(error instanceof ClaimedElsewhereError)) throw writeFailure(path, error, 2);
    throw new ClientFailure(`Another run (pid ${error.pid}) ${does}. Wait until it has ended, or stop it.`, 2);
  }
}

async function releaseIn(folder: string, claim: FolderClaim): Promise<void> {
  await claim.release();
  // Another run may have a claim there by now.
  await rmdir(folder).catch(() => undefined);
}
