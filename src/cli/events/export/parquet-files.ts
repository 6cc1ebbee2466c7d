import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeFailure } from '../../file-failures';
import { alreadyThere, publishPart, type OutputFile } from '../../output-file';
import type { EventOutput, ExportedEvent, ExportPosition, SavePosition } from './event-output';
import { ParquetFile } from './parquet-file';

export interface ParquetFilesOptions {
  readonly output: OutputFile;
  readonly rowsPerFile: number;
}

/**
 * Parquet files of up to `rowsPerFile` rows each: `events.parquet` becomes `events-00001.parquet`, `events-00002.parquet` and so
 * on. Each has its name only when it is complete and on disk. There is one at least, so that what reads them finds the columns.
 */
export class ParquetFiles implements EventOutput {
  private position: ExportPosition | undefined;
  private current: ParquetFile | undefined;
  /** A part of its last events may be missing: it cannot be completed. */
  private isBroken = false;

  private constructor(
    private readonly options: ParquetFilesOptions,
    private readonly save: SavePosition,
    private files: number,
  ) {}

  /** Behind `files` that are complete. Throws `ClientFailure` (exit code 2). */
  static async open(options: ParquetFilesOptions, files: number, save: SavePosition): Promise<ParquetFiles> {
    const { output } = options;
    if (files === 0) await removeEarlier(output);
    else await ParquetFiles.publish(output, files);
    const opened = new ParquetFiles(options, save, files);
    // Says before anything is asked for that the folder cannot be written.
    await opened.file();
    return opened;
  }

  /** Gives the last complete file its name, unless it has it: also called after a kill. */
  static async publish(output: OutputFile, number: number): Promise<void> {
    const path = parquetPath(output.path, number);
    await publishPart(partOf(path), { ...output, path });
  }

  get room(): number {
    return this.options.rowsPerFile - (this.current?.rows ?? 0);
  }

  async append(events: readonly ExportedEvent[], position: ExportPosition): Promise<void> {
    const file = await this.file();
    this.isBroken = true;
    await file.append(events);
    this.isBroken = false;
    this.position = position;
    if (file.rows >= this.options.rowsPerFile) await this.completeFile(file, position);
  }

  async finish(): Promise<void> {
    const { position, current } = this;
    if (position === undefined) return;
    if (current !== undefined && (current.rows > 0 || this.files === 0)) await this.completeFile(current, position);
    else await this.save(position, { files: this.files });
    await this.current?.discard();
  }

  async suspend(): Promise<void> {
    const { position, current } = this;
    if (current === undefined) return;
    if (position !== undefined && current.rows > 0 && !this.isBroken) await this.completeFile(current, position);
    else await current.discard();
  }

  /** The state counts the file before it gets its name: a run that is killed in between names it later, and never makes it again. */
  private async completeFile(file: ParquetFile, position: ExportPosition): Promise<void> {
    this.current = undefined;
    await file.finish().catch(async (error: unknown) => {
      await file.discard();
      throw error;
    });
    this.files += 1;
    await this.save(position, { files: this.files });
    await ParquetFiles.publish(this.options.output, this.files);
  }

  private async file(): Promise<ParquetFile> {
    this.current ??= await ParquetFile.create(partOf(parquetPath(this.options.output.path, this.files + 1)));
    return this.current;
  }
}

/** The path of a file by its number, from 1. */
export function parquetPath(path: string, number: number): string {
  return `${stemOf(path)}-${String(number).padStart(5, '0')}.parquet`;
}

/** The name of an export: `events` and `events.parquet` make the same files. */
export function parquetName(path: string): string {
  return `${stemOf(path)}.parquet`;
}

/** Removes the first files of an export, and what a kill has left of the next one. */
export async function removeParquetFiles(path: string, files: number): Promise<void> {
  for (let number = 1; number <= files; number += 1) await rm(parquetPath(path, number), { force: true });
  await rm(partOf(parquetPath(path, files + 1)), { force: true });
}

/** Files of an earlier export beside new ones would be loaded together with them. */
async function removeEarlier({ path, mayReplace }: OutputFile): Promise<void> {
  const folder = dirname(path);
  const stem = basename(stemOf(path));
  const names = await readdir(folder).catch((error: unknown) => {
    throw writeFailure(path, error, 2);
  });
  const earlier = names.filter((name) => name.startsWith(stem) && /^-\d{5,}\.parquet$/.test(name.slice(stem.length)));
  const [first] = earlier;
  if (first === undefined) return;
  if (!mayReplace) throw alreadyThere(join(folder, first));
  for (const name of earlier) await rm(join(folder, name), { force: true });
}

function stemOf(path: string): string {
  return path.replace(/\.parquet$/, '');
}

function partOf(path: string): string {
  return `${path}.part`;
}
