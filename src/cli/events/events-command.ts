import { Command, Option } from 'commander';
import { processEnvironment } from '../../platform/config/env';
import { countUpTo, secondsUpTo, type Console } from '../console';
import { addServiceOptions } from '../service-options';
import { addExportCommand } from './export/export-command';
import { sendFile } from './send-file';
import { readSendOptions, type GivenOptions } from './send-options';
import { noSendProgress, sendProgressOn } from './send-progress';
import { stoppingBySignals } from '../stopping';
import { errorsFailure, summaryWords } from './summary';

/** As much as the service takes at once (contract section 3). */
const BATCH_ITEMS_MAX = 1_000;
/** Enough to load any service; beyond it sockets run out before anything gets faster. */
const CONCURRENCY_MAX = 64;
const RETRY_DAYS_MAX = 30;
const RETRY_SECONDS_DEFAULT = 600;

const WORDS = `Sends a file of events to a running service: one JSON event in each line (NDJSON), plain or gzip.

It is a client like any other and needs an API key, in the environment (CDS_API_KEY) or in a file. Nothing is lost and nothing
stored twice, whatever is interrupted: the same command goes on where the one before has ended. The order of events is kept
within a batch; between batches only with --concurrency 1.`;

const AFTER = `
Lines that fail are written to the errors file: {"line", "error_code", "message", "details", "event"}. Correct "event" there and
send that file in the same way.

"lines" is the sum of accepted, duplicate and errors, over all runs of the file. An event that is sent again because its answer
got lost counts once, as duplicate.

Exit code 0: every line is stored; 1: some failed, or it could not go on; 2: called the wrong way; 130: interrupted.`;

export function eventsCommand(console: Console): Command {
  const events = new Command('events').description('Events, by way of a running service');
  addServiceOptions(events.command('send'))
    .summary('Sends a file of events (NDJSON) to a running service')
    .description(WORDS)
    .argument('<file>', 'the file, or - for standard input')
    .addOption(
      new Option('--family <family>', 'whose field names the events have (default: that of the first event)').choices([
        'external',
        'cdp',
      ]),
    )
    .option('--batch-size <n>', `events in one request, up to ${BATCH_ITEMS_MAX}`, countUpTo(BATCH_ITEMS_MAX), 500)
    .option('--concurrency <n>', `requests under way, up to ${CONCURRENCY_MAX}`, countUpTo(CONCURRENCY_MAX), 4)
    .addOption(
      new Option('--retry-for <time>', 'how long to try again what fails, such as 90s or 10m')
        .argParser(secondsUpTo(RETRY_DAYS_MAX))
        .default(RETRY_SECONDS_DEFAULT, '10m'),
    )
    .option('--dry-run', 'have everything checked and nothing stored')
    .option('--errors <path>', 'where lines that fail go (default: <file>.errors.ndjson)')
    .option('--state <path>', 'how far it has come, until it is complete (default: <file>.state.json)')
    .option('--restart', 'begin anew, whatever an interrupted run has left')
    .option('--no-progress', 'do not show how far it has come')
    .option('--json', 'write the summary as JSON')
    .addHelpText('after', AFTER)
    .action((path: string, options: GivenOptions) => send(console, path, options));
  addExportCommand(events, console);
  return events;
}

async function send({ out }: Console, path: string, given: GivenOptions): Promise<void> {
  const options = await readSendOptions(path, given, processEnvironment());
  const stopping = stoppingBySignals();
  try {
    const progress = given.progress ? sendProgressOn(process.stderr) : noSendProgress;
    const { summary, failure } = await sendFile(options, { standardInput: process.stdin, progress, stopping });
    out(given.json ? JSON.stringify(summary) : summaryWords(summary));
    if (failure !== undefined) throw failure;
    if (summary.errors > 0) throw errorsFailure(summary);
  } finally {
    stopping.dispose();
  }
}
