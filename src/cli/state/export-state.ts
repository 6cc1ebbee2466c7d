import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ClientFailure } from '../../client/client-failure';
import { ServiceClient, type Failing, type RequestOptions } from '../../client/service-client';
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
  silence: 'Nothing was left under the name of the file: run the command again when it is back.',
};

/** Writes every participant of a campaign with the own values, a page in memory at a time; answers how many. Throws `ClientFailure`. */
export async function exportState(
  options: ExportOptions,
  { standardOutput, stopping }: ExportSurroundings,
): Promise<number> {
  const { output, retryForMs } = options;
  if (output !== undefined) await checkOutput(output);
  const signal = stopping.soon;
  const retries = ({ failingMs, waitMs }: Failing): boolean => failingMs + waitMs <= retryForMs;
  const run = new ExportRun(options, { retries, signal });
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
  private readonly client: ServiceClient;

  constructor(
    private readonly options: ExportOptions,
    private readonly requests: RequestOptions,
  ) {
    this.client = new ServiceClient(options.url, options.key, ADVICE);
  }

  /** The output, a page at a time. */
  async *chunks(): AsyncGenerator<string, void, void> {
    const { campaignId, format, exact } = this.options;
    const csv = { guardsFormulas: !exact };
    const names = format === 'csv' ? await userVariables(this.client, campaignId, this.requests) : [];
    if (format === 'csv') yield csvLine(['sub', ...names.map((name) => `user.${name}`)], csv);
    const line = ({ sub, user, item }: ExportedParticipant): string =>
      format === 'csv' ? csvLine([sub, ...names.map((name) => user[name])], csv) : `${JSON.stringify(item)}\n`;
    for await (const page of participantPages(this.client, campaignId, this.requests)) {
      this.count += page.length;
      if (page.length > 0) yield page.map(line).join('');
    }
  }
}
