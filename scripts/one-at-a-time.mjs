// Of the commands that install or build in one clone, only one is at it at any moment.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CLAIMS = join(dirname(dirname(fileURLToPath(import.meta.url))), '.run-lock');
const LOOK_AGAIN_MS = 200;

/**
 * Does the work while no other process of this clone does its own. Each puts up a file whose name is never used again
 * and then looks for others, so of two at least one sees the other; all but the first by name step back. Files of dead
 * processes do not count. The work gets a function that adds a program we start: it outlives us when we are killed.
 * `onWait` hears once whom we wait for.
 */
export async function oneAtATime(work, onWait) {
  const id = `${performance.timeOrigin.toFixed(3)}-${randomUUID()}`;
  const own = new Set();
  const claimFor = (pid) => own.add(putUp(`${id}_${pid}_${startOf(pid)}`));
  const release = () => {
    own.forEach((name) => rmSync(join(CLAIMS, name), { force: true }));
    own.clear();
  };
  try {
    for (let isReported = false; ; await delay(LOOK_AGAIN_MS)) {
      if (own.size === 0) {
        claimFor(process.pid);
      }
      const others = livingClaims().filter((claim) => !own.has(claim.name));
      if (others.length === 0) {
        break;
      }
      if (!isReported) {
        onWait(others[0].pid);
        isReported = true;
      }
      if (others.some((other) => other.name < id)) {
        release();
      }
    }
    await work(claimFor);
  } finally {
    release();
    removeIfEmpty(CLAIMS);
  }
}

function putUp(name) {
  for (;;) {
    try {
      mkdirSync(CLAIMS, { recursive: true });
      writeFileSync(join(CLAIMS, name), '');
      return name;
    } catch (error) {
      // The process that leaves last removes the folder, perhaps between these two lines.
      if (error.code !== 'ENOENT') {
        throw error;
      }
    }
  }
}

function livingClaims() {
  const claims = readdirSync(CLAIMS).map((name) => ({ name, pid: name.split('_')[1], start: name.split('_')[2] }));
  const dead = claims.filter(({ pid, start }) => startOf(pid) !== start);
  dead.forEach(({ name }) => rmSync(join(CLAIMS, name), { force: true }));
  return claims.filter((claim) => !dead.includes(claim));
}

/** Distinguishes a process from a later one with the same pid, on systems with /proc. Undefined: it has ended, or is a zombie. */
function startOf(pid) {
  if (existsSync('/proc/self/stat')) {
    const stat = readOrEmpty(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(fields[0]) ? undefined : fields[19];
  }
  try {
    process.kill(Number(pid), 0);
    return 'alive';
  } catch (error) {
    return error.code === 'EPERM' ? 'alive' : undefined;
  }
}

function removeIfEmpty(folder) {
  try {
    rmdirSync(folder);
  } catch {
    // Another process is waiting in it, or has removed it.
  }
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
