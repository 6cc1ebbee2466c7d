import type { Writable } from 'node:stream';
import type { FailedAttempt } from '../../../../clients/typescript/src/client';
import { attemptFailure, ClientFailure, isForeignAnswer, RunningService } from '../../running-service';
import { claimRun } from '../../run-claim';
import { removeState } from '../../state-file';
import type { Stopping } from '../../stopping';
import type { EventOutput, ExportPosition, SavePosition, WrittenOutput } from './event-output';
import { AT_THE_BEGINNING, eventPages, readCompleteBefore } from './event-pages';
import type { EventRange, EventExportOptions } from './export-options';
import type { ExportStanding, StartExportProgress } from './export-progress';
import { NdjsonFile } from './ndjson-file';
import { NdjsonStream } from './ndjson-stream';
import { ParquetFiles, parquetName } from './parquet-files';
import { exportSummary, type ExportSummary } from './export-summary';
import { ExportLedger, forgetExport, readSavedExport, type SavedExport } from './saved-export';

export interface EventExportSurroundings {
  readonly standardOutput: Writable;
  readonly progress: StartExportProgress;
  readonly stopping: Stopping;
}

/** The summary of an export, and the reason why it is not complete. */
export interface Exported {
  readonly summary: ExportSummary;
  readonly failure: ClientFailure | undefined;
}

/** So far may `--to` lie ahead of what is complete: clocks differ, and transactions take their time. */
const AHEAD_MS_MAX = 60_000;

/**
 * Writes every event that was received in a range of times once, in the order of receipt; or goes on with that. Throws
 * `ClientFailure` when it was called the wrong way, or when the service could not be asked for the range.
 */
export async function exportEvents(
  options: EventExportOptions,
  surroundings: EventExportSurroundings,
): Promise<Exported> {
  const { output, format } = options;
  const name = output && (format === 'parquet' ? parquetName(output.path) : output.path);
  const claim = name === undefined ? undefined : await claimRun(name, `is writing ${name}`);
  try {
    return await exportClaimed(options, surroundings);
  } finally {
    await claim?.release();
  }
}

async function exportClaimed(options: EventExportOptions, surroundings: EventExportSurroundings): Promise<Exported> {
  const { restart, statePath } = options;
  const found = statePath === undefined ? undefined : await readSavedExport(options, statePath);
  if (restart && found !== undefined && statePath !== undefined) await forgetExport(found, statePath);
  return new ExportRun(options, surroundings, restart ? undefined : found).run();
}

class ExportRun {
  private position: ExportPosition;
  private trouble: string | undefined;
  private readonly service: RunningService;

  constructor(
    private readonly options: EventExportOptions,
    private readonly surroundings: EventExportSurroundings,
    private readonly saved: SavedExport | undefined,
  ) {
    this.position = saved?.position ?? AT_THE_BEGINNING;
    const unreachable = canGoOn(options) ? 'The same command goes on when it is back.' : 'The output is not complete.';
    this.service = new RunningService(
      options.url,
      options.key,
      { ...ADVICE, unreachable },
      {
        totalMsMax: Number.POSITIVE_INFINITY,
        shouldRetry: (failed) => this.shouldRetry(failed),
      },
    );
  }

  async run(): Promise<Exported> {
    const { options, saved } = this;
    const ledger = new ExportLedger(options, saved);
    let failure: ClientFailure | undefined;
    if (saved?.position.isComplete === true) await publishOutput(options, saved.written);
    else failure = await this.write(ledger);
    if (failure === undefined && options.statePath !== undefined) await removeState(options.statePath);
    const { rows } = this.position;
    return { summary: exportSummary(options, { ...ledger.current, rows, complete: failure === undefined }), failure };
  }

  /** Answers why it ended before the output was complete. */
  private async write(ledger: ExportLedger): Promise<ClientFailure | undefined> {
    const { options, saved, surroundings } = this;
    // Before the service is asked for anything: an output that cannot be written is no reason to read.
    const output = await openOutput(options, saved?.written, surroundings.standardOutput, ledger.save);
    let isBegun = false;
    try {
      const range = saved?.range ?? (await this.range());
      ledger.begin(range);
      isBegun = true;
      await this.copy(range, output);
      await output.finish();
      return undefined;
    } catch (error) {
      // The first failure is the one to report: a full disk takes no state either.
      await output.suspend().catch(() => undefined);
      const failure = this.failureOf(error);
      if (!isBegun) throw failure;
      return failure;
    }
  }

  private async copy(range: EventRange, output: EventOutput): Promise<void> {
    const shown = this.surroundings.progress(range, this.standing);
    const pages = eventPages(this.service, {
      range,
      unmask: this.options.unmask,
      from: this.position,
      room: () => output.room,
      mayWait: (waitedMs) => this.mayRetry('still stores events of this time', waitedMs),
      signal: this.surroundings.stopping.soon,
    });
    try {
      for await (const { events, position } of pages) {
        this.trouble = undefined;
        await output.append(events, position);
        this.position = position;
      }
    } finally {
      shown.stop();
    }
  }

  private readonly standing = (): ExportStanding => {
    const { rows, receivedAt } = this.position;
    return { rows, receivedAt: receivedAt ?? undefined, trouble: this.trouble };
  };

  /** Without `--to`, the range ends where events are complete now. Throws `ClientFailure` (exit code 2) for one in the future. */
  private async range(): Promise<EventRange> {
    const { from, to } = this.options.range;
    const complete = await readCompleteBefore(this.service, this.surroundings.stopping.soon);
    if (from !== undefined && from >= complete) {
      throw new ClientFailure(`--from must lie before ${complete}: up to then, events are complete.`, 2);
    }
    if (to !== undefined && Date.parse(to) - Date.parse(complete) > AHEAD_MS_MAX) {
      throw new ClientFailure(`--to must not lie after ${complete}: later events may still come.`, 2);
    }
    return { from, to: to ?? complete };
  }

  private failureOf(error: unknown): ClientFailure {
    if (this.surroundings.stopping.soon.aborted) {
      const words = canGoOn(this.options) ? 'The same command goes on from there.' : 'The output is not complete.';
      return new ClientFailure(`Interrupted after ${this.position.rows} events. ${words}`, 130);
    }
    if (error instanceof ClientFailure) return error;
    throw error;
  }

  private shouldRetry({ error, failingMs, waitMs }: FailedAttempt): boolean {
    return !isForeignAnswer(error) && this.mayRetry(attemptFailure(error), failingMs + waitMs);
  }

  private mayRetry(reason: string, failingMs: number): boolean {
    this.trouble = reason;
    return failingMs <= this.options.retryForMs;
  }
}

const ADVICE = {
  credential: 'The key (CDS_API_KEY or --key-file) needs the scope events:read, and for --unmask also pii:read.',
};

function canGoOn({ statePath }: EventExportOptions): boolean {
  return statePath !== undefined;
}

/** The output that was asked for, behind what an interrupted run has written. Throws `ClientFailure` (exit code 2). */
async function openOutput(
  { output, format, rowsPerFile }: EventExportOptions,
  written: WrittenOutput | undefined,
  standardOutput: Writable,
  save: SavePosition,
): Promise<EventOutput> {
  if (output === undefined) return new NdjsonStream(standardOutput);
  const isOfFiles = written !== undefined && 'files' in written;
  if (format === 'parquet') return ParquetFiles.open({ output, rowsPerFile }, isOfFiles ? written.files : 0, save);
  return NdjsonFile.open(output, isOfFiles ? undefined : written, save);
}

/** Gives the last file of a complete output its name, if a kill has prevented that. Throws `ClientFailure`. */
async function publishOutput({ output }: EventExportOptions, written: WrittenOutput): Promise<void> {
  if (output === undefined) return;
  if ('files' in written) await ParquetFiles.publish(output, written.files);
  else await NdjsonFile.publish(output);
}
