import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FailedAttempt } from '../../../clients/typescript/src/client';
import { ClientFailure, isForeignAnswer, RunningService } from '../running-service';
import type { ServiceOptions } from '../service-options';
import type { Stopping } from '../stopping';
import { csvLine } from './csv';
import { checkOutput, writeOutput, type OutputFile } from './output-file';
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
    throw error;
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
