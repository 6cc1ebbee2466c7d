import { resolve } from 'node:path';
import type { OutputFile } from '../../output-file';
import { ClientFailure } from '../../running-service';
import { readServiceOptions, type Environment, type GivenService, type ServiceOptions } from '../../service-options';
import { timeOption } from '../../time-option';

/** The options of the command line, as commander gives them. */
export interface GivenExportOptions extends GivenService {
  readonly from?: string;
  readonly to?: string;
  readonly format: 'ndjson' | 'parquet';
  readonly output?: string;
  readonly rowsPerFile: number;
  readonly unmask?: true;
  readonly force?: true;
  readonly state?: string;
  readonly restart?: true;
  readonly retryFor: number;
  readonly progress: boolean;
  readonly json?: true;
}

/** Times of receipt, RFC 3339 in UTC with milliseconds: from the one on (from the first event where it is absent), before the other. */
export interface EventRange {
  readonly from: string | undefined;
  readonly to: string;
}

/** What is exported, from where, and how. */
export interface EventExportOptions extends ServiceOptions {
  /** `to` undefined: as far as events are complete when the export begins. */
  readonly range: Omit<EventRange, 'to'> & { readonly to: string | undefined };
  readonly format: 'ndjson' | 'parquet';
  readonly unmask: boolean;
  /** Undefined: standard output. */
  readonly output: OutputFile | undefined;
  readonly rowsPerFile: number;
  /** Undefined: no state is kept, and the export cannot be gone on with. */
  readonly statePath: string | undefined;
  readonly restart: boolean;
  readonly retryForMs: number;
}

/** Throws `ClientFailure` (exit code 2) for invalid options. */
export async function readExportOptions(
  given: GivenExportOptions,
  environment: Environment,
): Promise<EventExportOptions> {
  const { format, unmask = false, restart = false } = given;
  const may = unmask ? 'read events unmasked (scopes events:read and pii:read)' : 'read events (scope events:read)';
  const service = await readServiceOptions(given, environment, { command: 'events export', may });
  const range = rangeOf(given);
  const output = outputOf(given);
  const statePath = output === undefined ? undefined : resolve(given.state ?? `${output.path}.state.json`);
  if (statePath !== undefined && statePath === output?.path) {
    throw new ClientFailure('--output and --state must be two different files.', 2);
  }
  const { rowsPerFile } = given;
  return {
    ...service,
    range,
    format,
    unmask,
    output,
    rowsPerFile,
    statePath,
    restart,
    retryForMs: given.retryFor * 1_000,
  };
}

function rangeOf(given: GivenExportOptions): EventExportOptions['range'] {
  const from = given.from === undefined ? undefined : timeOption('--from', given.from);
  const to = given.to === undefined ? undefined : timeOption('--to', given.to);
  if (from !== undefined && to !== undefined && from >= to) throw new ClientFailure('--to must lie after --from.', 2);
  return { from, to };
}

function outputOf({ output, format, force, state, restart }: GivenExportOptions): OutputFile | undefined {
  if (output !== undefined) return { path: resolve(output), mayReplace: force ?? false };
  if (format === 'parquet') {
    throw new ClientFailure('Parquet files cannot be written to standard output. Name a file with --output.', 2);
  }
  if (state !== undefined || restart !== undefined) {
    throw new ClientFailure(
      '--state and --restart need --output: what went to standard output cannot be gone on with.',
      2,
    );
  }
  return undefined;
}
