import { Command, Option } from 'commander';
import { processEnvironment } from '../../platform/config/env';
import { countUpTo, secondsUpTo, type Console } from '../console';
import { addServiceOptions, readServiceOptions, type GivenService } from '../service-options';
import { stoppingBySignals } from '../stopping';
import { timeOption } from '../time-option';
import { backfillWords, runBackfill } from './run-backfill';
import { backfillProgressOn, noBackfillProgress } from './backfill-progress-bar';

const RETRY_DAYS_MAX = 30;
const RETRY_SECONDS_DEFAULT = 600;
const EVENTS_PER_SECOND_MAX = 10_000;

const WORDS = `Applies a reaction to events that were received before it, once each, and shows how far that has come.

It is a client of a running service and needs an API key with the scopes reactions:write and reactions:read, in the environment
(CDS_API_KEY) or in a file. The service does the work: it goes on when this command is interrupted.`;

const AFTER = `
The same range again changes nothing, so a cancelled or failed backfill is started again in the same way.

Exit code 0: done; 1: cancelled or failed, or events failed; 2: called the wrong way; 130: interrupted, the backfill goes on.`;

interface GivenOptions extends GivenService {
  readonly campaign: string;
  readonly from: string;
  readonly to: string;
  readonly dryRun?: true;
  readonly eventsPerSecond?: number;
  readonly retryFor: number;
  readonly progress: boolean;
  readonly json?: true;
}

export function reactionsCommand(console: Console): Command {
  const reactions = new Command('reactions').description('Reactions of campaigns, by way of a running service');
  addServiceOptions(reactions.command('backfill'))
    .summary('Applies a reaction to events that were received before it')
    .description(WORDS)
    .argument('<reaction>', 'the name of the reaction')
    .requiredOption('--campaign <id>', 'the campaign')
    .requiredOption('--from <time>', 'events received from then on, such as 2026-01-01 or 2026-01-01T08:00:00Z')
    .requiredOption('--to <time>', 'and before then; at most up to the last event received so far')
    .option('--dry-run', 'change nothing, and add up what would change')
    .option(
      '--events-per-second <n>',
      `at most so many, up to ${EVENTS_PER_SECOND_MAX}`,
      countUpTo(EVENTS_PER_SECOND_MAX),
    )
    .addOption(
      new Option('--retry-for <time>', 'how long to try again what fails, such as 90s or 10m')
        .argParser(secondsUpTo(RETRY_DAYS_MAX))
        .default(RETRY_SECONDS_DEFAULT, '10m'),
    )
    .option('--no-progress', 'do not show how far it has come')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', AFTER)
    .action((name: string, options: GivenOptions) => backfill(console, name, options));
  return reactions;
}

async function backfill({ out }: Console, name: string, given: GivenOptions): Promise<void> {
  const service = await readServiceOptions(given, processEnvironment(), {
    command: 'reactions backfill',
    may: 'change reactions (scopes reactions:write and reactions:read)',
  });
  const [from, to] = [timeOption('--from', given.from), timeOption('--to', given.to)];
  const { campaign: campaignId, dryRun = false, eventsPerSecond: eventsPerSecondMax } = given;
  const stopping = stoppingBySignals();
  try {
    const range = { from, to, dryRun, ...(eventsPerSecondMax === undefined ? {} : { eventsPerSecondMax }) };
    const { result, failure } = await runBackfill(
      { ...service, campaignId, name, range, retryForMs: given.retryFor * 1_000 },
      { progress: given.progress ? backfillProgressOn(process.stderr) : noBackfillProgress, stopping },
    );
    out(given.json ? JSON.stringify(result) : backfillWords(result));
    if (failure !== undefined) throw failure;
  } finally {
    stopping.dispose();
  }
}
