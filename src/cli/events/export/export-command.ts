import { Option, type Command } from 'commander';
import { processEnvironment } from '../../../platform/config/env';
import { countUpTo, secondsUpTo, type Console } from '../../console';
import { addServiceOptions } from '../../service-options';
import { stoppingBySignals } from '../../stopping';
import { exportEvents } from './export-events';
import { readExportOptions, type GivenExportOptions } from './export-options';
import { exportProgressOn, noExportProgress } from './export-progress';
import { exportSummaryWords } from './export-summary';

const ROWS_PER_FILE_DEFAULT = 1_000_000;
const ROWS_PER_FILE_MAX = 10_000_000;
const RETRY_DAYS_MAX = 30;
const RETRY_SECONDS_DEFAULT = 600;

const WORDS = `Writes the events that were received in a range of times, in the order of receipt, each once: for a warehouse, or before
they expire.

It is a client of a running service and needs an API key with the scope events:read, in the environment (CDS_API_KEY) or in a
file. Exports of any size take the same memory. With --output, the same command goes on where an interrupted one has ended.`;

const AFTER = `
--from is part of the range, --to is not: ranges that follow one another hold every event once. Without --to, the range ends
where events are complete by the clock of the service, usually a second ago. A later --to, by a minute at most, is waited for. So the
number of rows is that of the accepted events of the range. A replayed event has the time of its first receipt: it is missing in an
export that was made between its first receipt and its replay.

ndjson: one JSON object in each line, as GET /v1/events lists it.
parquet: files of up to --rows-per-file rows, NAME-00001.parquet and so on, with the columns event_id, family, source,
external_event_id, event_type, event_type_version, occurred_at, received_at, profile_id, identity and properties (both JSON).
Identity and properties are masked as the API masks them; --unmask shows them and needs the scope pii:read.

Files can be read by their owner alone, and have their names only when they are complete.
Exit code 0: done; 1: it could not go on; 2: called the wrong way; 130: interrupted; 141: nobody reads the output any more.`;

/** Adds `export` to `cds events`. */
export function addExportCommand(events: Command, console: Console): void {
  addServiceOptions(events.command('export'))
    .summary('Writes events to NDJSON or Parquet files')
    .description(WORDS)
    .option('--from <time>', 'received at this time or later (default: from the first event on)')
    .option('--to <time>', 'received before this time (default: as far as events are complete)')
    .addOption(new Option('--format <format>', 'what to write').choices(['ndjson', 'parquet']).default('ndjson'))
    .option('--output <file>', 'the file to make (default: standard output; needed for parquet)')
    .option(
      '--rows-per-file <n>',
      `parquet: rows of a file, up to ${ROWS_PER_FILE_MAX}`,
      countUpTo(ROWS_PER_FILE_MAX),
      ROWS_PER_FILE_DEFAULT,
    )
    .option('--unmask', 'show identities and personal properties; each page is recorded')
    .option('--force', 'replace files that are there')
    .option('--state <path>', 'how far it has come, until it is complete (default: <file>.state.json)')
    .option('--restart', 'begin anew, whatever an interrupted run has left')
    .addOption(
      new Option('--retry-for <time>', 'how long to try again what fails, such as 90s or 10m')
        .argParser(secondsUpTo(RETRY_DAYS_MAX))
        .default(RETRY_SECONDS_DEFAULT, '10m'),
    )
    .option('--no-progress', 'do not show how far it has come')
    .option('--json', 'write the summary as JSON')
    .addHelpText('after', AFTER)
    .action((options: GivenExportOptions) => runExport(console, options));
}

async function runExport({ out, say }: Console, given: GivenExportOptions): Promise<void> {
  const options = await readExportOptions(given, processEnvironment());
  const stopping = stoppingBySignals();
  try {
    const progress = given.progress ? exportProgressOn(process.stderr) : noExportProgress;
    const { summary, failure } = await exportEvents(options, { standardOutput: process.stdout, progress, stopping });
    if (failure?.exitCode === 141) throw failure;
    // Standard output holds the events unless they have a file.
    const tell = options.output === undefined ? say : out;
    tell(given.json ? JSON.stringify(summary) : exportSummaryWords(summary));
    if (failure !== undefined) throw failure;
  } finally {
    stopping.dispose();
  }
}
