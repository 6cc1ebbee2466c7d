import { ClientFailure } from '../../running-service';
import { readState, removeState, writeState } from '../../state-file';
import type { ExportPosition, SavePosition, WrittenOutput } from './event-output';
import type { EventRange, EventExportOptions } from './export-options';
import { removeParquetFiles } from './parquet-files';

/** What an export that was interrupted leaves to the run that goes on with it. */
export interface SavedExport {
  readonly format: typeof FORMAT;
  /** As they were given; they must be the same when it goes on. */
  readonly asked: AskedExport;
  /** Resolved once: a later run must not see another end. */
  readonly range: EventRange;
  readonly position: ExportPosition;
  readonly written: WrittenOutput;
  readonly seconds: number;
  readonly runs: number;
}

interface AskedExport {
  /** Absolute path. */
  readonly output: string | null;
  readonly outputFormat: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly unmask: boolean;
}

const FORMAT = 'cds events export 1';

/** Undefined where there is nothing to go on with. Throws `ClientFailure` (exit code 2) for the state of another export. */
export async function readSavedExport(
  options: EventExportOptions,
  statePath: string,
): Promise<SavedExport | undefined> {
  const saved = await readState<SavedExport>(statePath, FORMAT);
  if (saved === undefined || options.restart) return saved;
  const asked = askedOf(options);
  const differing = ASKED_WORDS.find(([name]) => saved.asked[name] !== asked[name]);
  if (differing === undefined) return saved;
  throw new ClientFailure(
    `An export to ${saved.asked.output ?? ''} was interrupted after ${saved.position.rows} events, with another ${differing[1]}. ` +
      'Give the same options to go on, or begin anew with --restart.',
    2,
  );
}

const ASKED_WORDS = [
  ['output', '--output'],
  ['outputFormat', '--format'],
  ['from', '--from'],
  ['to', '--to'],
  ['unmask', '--unmask'],
] as const;

/** For a new beginning: removes the state, and the Parquet files that it counts. */
export async function forgetExport({ asked, written }: SavedExport, statePath: string): Promise<void> {
  await removeState(statePath);
  if (asked.output !== null && 'files' in written) await removeParquetFiles(asked.output, written.files);
}

/** What a run knows of its export, and saves as it goes on. */
export class ExportLedger {
  private readonly began = performance.now();
  private range: EventRange | undefined;

  constructor(
    private readonly options: EventExportOptions,
    private readonly before: SavedExport | undefined,
  ) {
    this.range = before?.range;
  }

  /** To be called before anything is saved. */
  begin(range: EventRange): void {
    this.range = range;
  }

  /** The time is that of all runs. */
  get current(): { readonly range: EventRange; readonly seconds: number; readonly runs: number } {
    if (this.range === undefined) throw new Error('The range of the export is not known yet');
    const seconds = (this.before?.seconds ?? 0) + (performance.now() - this.began) / 1_000;
    return { range: this.range, seconds, runs: (this.before?.runs ?? 0) + 1 };
  }

  /** Replaces the state on disk; does nothing where none is kept. */
  readonly save: SavePosition = async (position, written) => {
    const { statePath } = this.options;
    if (statePath === undefined) return;
    const state: SavedExport = { format: FORMAT, asked: askedOf(this.options), position, written, ...this.current };
    await writeState(statePath, state);
  };
}

function askedOf({ output, format, range, unmask }: EventExportOptions): AskedExport {
  return {
    output: output?.path ?? null,
    outputFormat: format,
    from: range.from ?? null,
    to: range.to ?? null,
    unmask,
  };
}
