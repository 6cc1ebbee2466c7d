import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FailedAttempt } from '../../../clients/typescript/src/client';
import { ClientFailure, isForeignAnswer, RunningService } from '../running-service';
import type { ServiceOptions } from '../service-options';
import { standardOutputFailure } from '../standard-output';
import type { Stopping } from '../stopping';
import { checkOutput, writeOutput, type OutputFile } from '../output-file';
import { participantPages, userVariables, type ExportedParticipant } from './participant-pages';

export interface ExportOptions extends ServiceOptions {
  readonly campaignId: string;
  readonly format: 'ndjson' | 'csv';
  /** Text as it is, also where a spreadsheet would take it for a formula. */
  readonly exact: boolean;
  /** Undefined: standard output. */
  readonly output: OutputFile | undefined;
  readonly retryForMs: number;
}

export interface ExportSurroundings {
  readonly standardOutput: Writable;
  readonly stopping: Stopping;
}

const ADVICE = {
  credential: 'The key (CDS_API_KEY or --key-file) needs the scope state:read; for CSV also variables:read.',
  unreachable: 'Nothing was left under the name of the file: run the command again when it is back.',
};

/** Writes every participant of a campaign with the own values, a page in memory at a time; answers how many. Throws `ClientFailure`. */
export async function exportState(
  options: ExportOptions,
  { standardOutput, stopping }: ExportSurroundings,
): Promise<number> {
  const { output, retryForMs } = options;
  if (output !== undefined) await checkOutput(output);
  const signal = stopping.soon;
  const shouldRetry = ({ error, failingMs, waitMs }: FailedAttempt): boolean =>
    !isForeignAnswer(error) && failingMs + waitMs <= retryForMs;
  const retry = { totalMsMax: Number.POSITIVE_INFINITY, shouldRetry };
  const run = new ExportRun(options, new RunningService(options.url, options.key, ADVICE, retry), signal);
  try {
    if (output !== undefined) await writeOutput(output, run.chunks(), signal);
    else await pipeline(run.chunks(), standardOutput, { signal, end: false });
  } catch (error) {
    if (signal.aborted) throw new ClientFailure('Interrupted; the output is not complete.', 130);
    throw output === undefined ? standardOutputFailure(error) : error;
  }
  return run.count;
}

class ExportRun {
  count = 0;

  constructor(
    private readonly options: ExportOptions,
    private readonly service: RunningService,
    private readonly signal: AbortSignal,
  ) {}

  /** The output, a page at a time. */
  async *chunks(): AsyncGenerator<string, void, void> {
    const { campaignId, format, exact } = this.options;
    const csv = { guardsFormulas: !exact };
    const names = format === 'csv' ? await userVariables(this.service, campaignId, this.signal) : [];
    if (format === 'csv') yield csvLine(['sub', ...names.map((name) => `user.${name}`)], csv);
    const line = ({ sub, user, item }: ExportedParticipant): string =>
      format === 'csv' ? csvLine([sub, ...names.map((name) => user[name])], csv) : `${JSON.stringify(item)}\n`;
    for await (const page of participantPages(this.service, campaignId, this.signal)) {
      this.count += page.length;
      if (page.length > 0) yield page.map(line).join('');
    }
  }
}

/** RFC 4180 asks for both. */
const LINE_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** What spreadsheets take for the beginning of a formula, in the full width of East Asian fonts too. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export interface CsvOptions {
  /** Text that a spreadsheet would take for a formula gets a `'` in front, so that it is shown and not worked out. */
  readonly guardsFormulas: boolean;
}

/**
 * A line of CSV (RFC 4180) with its end. Null is an empty field, empty text is `""`; numbers and booleans are as in JSON, and so are
 * lists and objects.
 */
export function csvLine(values: readonly unknown[], options: CsvOptions): string {
  return `${values.map((value) => field(value, options)).join(',')}${LINE_END}`;
}

function field(value: unknown, { guardsFormulas }: CsvOptions): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return quoted(guardsFormulas && BEGINS_FORMULA.test(value) ? `'${value}` : value);
  return quoted(JSON.stringify(value));
}

function quoted(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
