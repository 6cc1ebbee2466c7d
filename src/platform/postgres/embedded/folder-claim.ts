import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity, processNamespace } from './processes';

export interface FolderClaim {
  release(): Promise<void>;
}

/** Another living process holds the claim. */
export class ClaimedElsewhereError extends Error {
  constructor(readonly pid: number) {
    super(`claimed by process ${String(pid)}`);
    this.name = 'ClaimedElsewhereError';
  }
}

export interface ClaimTiming {
  /** Long enough for an earlier process to end, short enough for a person who started the service twice. */
  readonly patienceMs: number;
  /** How often a holder updates its file, for processes in other containers, which cannot see its pid. */
  readonly heartbeatMs: number;
  /** A holder in another container is dead when its file has not been updated for this time. */
  readonly silenceMs: number;
}

interface Claimant {
  readonly name: string;
  readonly pid: number;
  readonly identity: string;
  readonly namespace: string;
}

const TIMING: ClaimTiming = { patienceMs: 3_000, heartbeatMs: 1_000, silenceMs: 6_000 };
const RETRY_MS = 50;

/**
 * Of all processes that claim one folder, at most one holds it, until it releases the claim or dies.
 *
 * Each claimant first creates a file with a unique name, then looks for other files: of two claimants, at least one sees the
 * other. Claims are never transferred, and only files of dead processes are removed, so two processes never both find the
 * folder free. Of claimants that see each other, all but the first by name withdraw and try again.
 */
export async function claimFolder(folder: string, timing = TIMING): Promise<FolderClaim> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own = [randomUUID(), process.pid, processIdentity(process.pid) ?? '', processNamespace()].join('.');
  const putUp = (): Promise<void> => writeFile(join(folder, own), '.');
  const takeDown = (): Promise<void> => rm(join(folder, own), { force: true });
  const began = performance.now();
  for (;;) {
    await putUp();
    const others = await livingClaimants(folder, own, timing.silenceMs);
    const [first] = others;
    if (first === undefined) {
      return holding(putUp, takeDown, timing.heartbeatMs);
    }
    const lookedLong = others.some(isElsewhere) ? timing.silenceMs + timing.patienceMs : timing.patienceMs;
    if (performance.now() - began > lookedLong) {
      await takeDown();
      throw new ClaimedElsewhereError(first.pid);
    }
    if (others.some((other) => other.name < own)) {
      await takeDown();
    }
    await delay(RETRY_MS * (1 + Math.random()));
  }
}

function holding(putUp: () => Promise<void>, takeDown: () => Promise<void>, heartbeatMs: number): FolderClaim {
  let beating = Promise.resolve();
  const heartbeat = setInterval(() => {
    // Fails only when the folder itself was removed.
    beating = beating.then(putUp).catch(() => undefined);
  }, heartbeatMs).unref();
  const release = async (): Promise<void> => {
    clearInterval(heartbeat);
    await beating;
    await takeDown();
  };
  return { release };
}

async function livingClaimants(folder: string, own: string, silenceMs: number): Promise<Claimant[]> {
  const living: Claimant[] = [];
  // The clock of the file system, which may be that of another machine.
  const { mtimeMs: now } = await stat(join(folder, own));
  for (const name of await readdir(folder)) {
    const [, pid, identity, namespace] = name.split('.');
    if (name === own || pid === undefined || identity === undefined || namespace === undefined) {
      continue;
    }
    const claimant = { name, pid: Number(pid), identity, namespace };
    if (await isAlive(claimant, join(folder, name), now - silenceMs)) {
      living.push(claimant);
    } else {
      await rm(join(folder, name), { force: true });
    }
  }
  return living;
}

async function isAlive(claimant: Claimant, file: string, heardSince: number): Promise<boolean> {
  if (!isElsewhere(claimant)) {
    return processIdentity(claimant.pid) === claimant.identity;
  }
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && found.mtimeMs > heardSince;
}

function isElsewhere({ namespace }: Claimant): boolean {
  return namespace !== processNamespace();
}
