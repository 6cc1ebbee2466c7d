import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { processEnvironment } from '../../platform/config/env';
import { secondsUpTo, type Console } from '../console';
import { addServiceOptions, readServiceOptions, type GivenService } from '../service-options';
import { stoppingBySignals } from '../stopping';
import { exportState } from './export-state';

const RETRY_DAYS_MAX = 30;
const RETRY_SECONDS_DEFAULT = 600;

const WORDS = `Writes every participant of a campaign who has values of their own, newest first, with these values.

It is a client of a running service and needs an API key with the scope state:read, in the environment (CDS_API_KEY) or in a file; for
CSV also variables:read. Campaigns of any size take the same memory. Participants who come while it runs may be missing.`;

const AFTER = `
ndjson: one JSON object in each line, as GET /v1/campaigns/{campaign_id}/participants lists it.
csv: RFC 4180, UTF-8, with a header: "sub", then "user." and the name for each variable of scope user that is declared when the export
begins. No value and no default: an empty field; empty text: "". Booleans are true and false, lists and objects JSON.
Text that a spreadsheet would take for a formula (it begins with = + - @ or a tab or line break) gets a ' in front; --exact leaves it.

The file can be read by its owner alone, and has its name only when it is complete.
Exit code 0: done; 1: it could not go on; 2: called the wrong way; 130: interrupted; 141: nobody reads the output any more.`;

interface GivenOptions extends GivenService {
  readonly campaign: string;
  readonly format: 'ndjson' | 'csv';
  readonly output?: string;
  readonly force?: true;
  readonly exact?: true;
  readonly retryFor: number;
}

export function stateCommand(console: Console): Command {
  const state = new Command('state').description('What participants have stored, by way of a running service');
  addServiceOptions(state.command('export'))
    .summary('Writes the participants of a campaign with their values')
    .description(WORDS)
    .requiredOption('--campaign <id>', 'the campaign')
    .addOption(new Option('--format <format>', 'what to write').choices(['ndjson', 'csv']).default('ndjson'))
    .option('--output <file>', 'the file to make (default: standard output)')
    .option('--force', 'replace the file, if it is there')
    .option('--exact', 'CSV: leave text that begins like a formula as it is')
    .addOption(
      new Option('--retry-for <time>', 'how long to try again what fails, such as 90s or 10m')
        .argParser(secondsUpTo(RETRY_DAYS_MAX))
        .default(RETRY_SECONDS_DEFAULT, '10m'),
    )
    .addHelpText('after', AFTER)
    .action((options: GivenOptions) => runExport(console, options));
  return state;
}

async function runExport({ say }: Console, given: GivenOptions): Promise<void> {
  const service = await readServiceOptions(given, processEnvironment(), {
    command: 'state export',
    may: 'read state (scope state:read)',
  });
  const { campaign: campaignId, format, exact = false, force: mayReplace = false, output: path } = given;
  const output = path === undefined ? undefined : { path: resolve(path), mayReplace };
  const stopping = stoppingBySignals();
  try {
    const count = await exportState(
      { ...service, campaignId, format, exact, output, retryForMs: given.retryFor * 1_000 },
      { standardOutput: process.stdout, stopping },
    );
    say(`${count} participants of ${campaignId} written${path === undefined ? '' : ` to ${path}`}.`);
  } finally {
    stopping.dispose();
  }
}
