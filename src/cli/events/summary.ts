import { ClientFailure } from '../running-service';
import type { SendState } from './send-state';

export interface SummaryOptions {
  readonly path: string;
  readonly dryRun: boolean;
  /** Whether all lines are done. */
  readonly complete: boolean;
}

/** The result of sending a file, over all runs that it took. */
export interface Summary {
  readonly file: string;
  readonly family: string | null;
  readonly complete: boolean;
  readonly dryRun: boolean;
  /** Lines that are not blank: the sum of the next three. */
  readonly lines: number;
  readonly accepted: number;
  readonly duplicate: number;
  readonly errors: number;
  readonly errorsFile: string | null;
  readonly seconds: number;
  readonly linesPerSecond: number;
  /** How often the file was taken up. */
  readonly runs: number;
  /** Requests that had to be made again. */
  readonly repeatedRequests: number;
}

const NUMBER = new Intl.NumberFormat('en-US');

/** The summary of all runs of a file so far, as `--json` writes it; seconds to the millisecond. */
export function summaryOf(state: SendState, { path, dryRun, complete }: SummaryOptions): Summary {
  const { accepted, duplicate, errors } = state.counts;
  const lines = accepted + duplicate + errors;
  return {
    file: path,
    family: state.family ?? null,
    complete,
    dryRun,
    lines,
    accepted,
    duplicate,
    errors,
    errorsFile: errors > 0 ? state.errors : null,
    seconds: Number(state.seconds.toFixed(3)),
    linesPerSecond: Math.round(lines / Math.max(state.seconds, 0.001)),
    runs: state.runs,
    repeatedRequests: state.repeatedRequests,
  };
}

/** The same for people. */
export function summaryWords(summary: Summary): string {
  const { lines, accepted, duplicate, errors, seconds, linesPerSecond } = summary;
  const rows: [string, string][] = [
    ['lines', NUMBER.format(lines)],
    ['accepted', NUMBER.format(accepted)],
    ['duplicate', NUMBER.format(duplicate)],
    ['errors', NUMBER.format(errors)],
    ['seconds', seconds.toFixed(1)],
    ['lines per second', NUMBER.format(linesPerSecond)],
  ];
  const width = Math.max(...rows.map(([, figure]) => figure.length));
  const table = rows.map(([name, figure]) => `${name.padEnd(18)}${figure.padStart(width)}`);
  return [...table, ...notesOn(summary)].join('\n');
}

/** What a complete run with failed lines ends with (exit code 1). */
export function errorsFailure({ errors, errorsFile, dryRun }: Summary): ClientFailure {
  const where = `${NUMBER.format(errors)} ${errors === 1 ? 'line' : 'lines'} failed, each with why in ${errorsFile ?? ''}.`;
  return new ClientFailure(
    dryRun ? `${where} Nothing was stored.` : `${where} Correct the events there, and send that file in the same way.`,
  );
}

function notesOn({ dryRun, duplicate, runs, repeatedRequests }: Summary): string[] {
  if (dryRun) return ['A dry run: nothing was stored, and copies within the file were not looked for beyond a batch.'];
  if (duplicate === 0 || (runs === 1 && repeatedRequests === 0)) return [];
  const origin =
    runs > 1 ? `The file took ${runs} runs` : `${NUMBER.format(repeatedRequests)} requests were made again`;
  return [`${origin}: "duplicate" holds events too that an attempt before had stored without hearing of it.`];
}
