import type { EventRange, EventExportOptions } from './export-options';

/** The result of an export, over all runs that it took. */
export interface ExportSummary {
  /** Null: standard output. */
  readonly output: string | null;
  readonly format: string;
  /** Null: from the first event on. */
  readonly from: string | null;
  /** All events of the export were received before it. */
  readonly to: string;
  readonly unmasked: boolean;
  /** Whether the output holds every event of the range. */
  readonly complete: boolean;
  readonly rows: number;
  readonly seconds: number;
  readonly rowsPerSecond: number;
  /** How often the export was taken up. */
  readonly runs: number;
}

export interface ExportOutcome {
  readonly range: EventRange;
  readonly rows: number;
  readonly complete: boolean;
  readonly seconds: number;
  readonly runs: number;
}

const NUMBER = new Intl.NumberFormat('en-US');

/** As `--json` writes it; seconds to the millisecond. */
export function exportSummary(
  { output, format, unmask }: EventExportOptions,
  { range: { from, to }, rows, complete, seconds, runs }: ExportOutcome,
): ExportSummary {
  return {
    output: output?.path ?? null,
    format,
    from: from ?? null,
    to,
    unmasked: unmask,
    complete,
    rows,
    seconds: Number(seconds.toFixed(3)),
    rowsPerSecond: Math.round(rows / Math.max(seconds, 0.001)),
    runs,
  };
}

/** The same for people. */
export function exportSummaryWords({ rows, from, to, seconds, rowsPerSecond }: ExportSummary): string {
  const lines: [string, string][] = [
    ['rows', NUMBER.format(rows)],
    ['received from', from ?? 'the first'],
    ['received before', to],
    ['seconds', seconds.toFixed(1)],
    ['rows per second', NUMBER.format(rowsPerSecond)],
  ];
  return lines.map(([name, value]) => `${name.padEnd(17)}${value}`).join('\n');
}
