import { resolve } from 'node:path';
import { CommanderError } from 'commander';
import { ClientFailure } from './running-service';
import { processEnvironment, readSettings } from '../platform/config/env';
import type { Settings } from '../platform/config/settings';
import { databaseProblem } from '../platform/postgres/database-problem';
import { DomainError } from '../platform/errors/domain-error';
import { messageOf } from '../platform/errors/error-summary';
import { cliProgram } from './program';
import { standardOutputFailure } from './standard-output';

void run();

/**
 * Exit code 0: done; 1: it could not be done; 2: called the wrong way (`plan`: something would change); 130: interrupted; 141: nobody reads the output any more.
 * What was asked for goes to stdout, words to stderr.
 */
async function run(): Promise<void> {
  // Each write reports its failure; without a listener, Node.js would end with a stack trace besides.
  process.stdout.on('error', () => undefined);
  const program = cliProgram({
    out: (text) =>
      process.stdout.write(`${text}\n`, (error) => {
        if (error instanceof Error) process.exitCode = exitCodeOf(standardOutputFailure(error));
      }),
    say: (words) => process.stderr.write(`${words}\n`),
    within: async (work) => {
      const { withoutServing } = await import('../server/service.js');
      return withoutServing(quietSettings(), work);
    },
    withinMigrated: async (work) => {
      const { withoutServing } = await import('../server/service.js');
      return withoutServing(await settingsOfData(), work, { migrates: false });
    },
    onDatabase: async (work) => {
      const { onDatabase } = await import('../server/service.js');
      const settings = await settingsOfData();
      return onDatabase(settings, (database) => work(database, settings));
    },
  });
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function quietSettings(): Settings {
  return { ...readSettings(processEnvironment()), logLevel: 'warn' };
}

/** Refuses a DATA_DIR without data. Otherwise a command with a mistaken DATA_DIR would make an empty database, and look at that. */
async function settingsOfData(): Promise<Settings> {
  const settings = quietSettings();
  const { databaseUrl, dataDir } = settings;
  const { hasEmbeddedData } = await import('../platform/postgres/embedded/embedded-postgres.js');
  if (databaseUrl !== undefined || (await hasEmbeddedData(dataDir))) return settings;
  throw new Error(`DATA_DIR (${resolve(dataDir)}) holds no data. Set DATA_DIR or DATABASE_URL as for the service.`);
}

function exitCodeOf(error: unknown): number {
  // Commander has said itself what is wrong; help that was asked for is none.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode();
  const isUnread = error instanceof ClientFailure && error.exitCode === 141;
  // `| head` has what it wanted.
  if (!isUnread) process.stderr.write(`${wordsOf(error)}\n`);
  return error instanceof ClientFailure ? error.exitCode : 1;
}

/** For `cds plan`, 2 means that something would change. */
function usageExitCode(): number {
  return process.argv[2] === 'plan' ? 1 : 2;
}

function wordsOf(error: unknown): string {
  if (error instanceof DomainError)
    return [error.message, ...error.details.slice(1).map(({ message }) => message)].join('\n');
  return databaseProblem(error) ?? messageOf(error);
}
