import { processEnvironment } from '../platform/config/env';
import { EnvironmentFileError } from '../platform/config/setting-parsers';
import { ClientFailure } from '../cli/running-service';
import { standardOutputFailure } from '../cli/standard-output';
import { readOptions, USAGE } from './options';
import { progressOn } from './progress';
import { runDemo } from './run-demo';

void run();

/** Exit code 0: all right; 1: something is wrong, or cannot be done; 2: called the wrong way. */
async function run(): Promise<void> {
  // Each write reports its failure; without a listener, Node.js would end with a stack trace besides.
  process.stdout.on('error', () => undefined);
  try {
    const options = readOptions(process.argv.slice(2), processEnvironment());
    if (options === undefined) {
      print(USAGE);
      return;
    }
    const isRight = await runDemo({ ...options, out: print, progress: progressOn(process.stderr) });
    process.exitCode = isRight ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ClientFailure || error instanceof EnvironmentFileError)) throw error;
    fail(error);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`, (error) => {
    const failure = error instanceof Error ? standardOutputFailure(error) : undefined;
    if (failure instanceof ClientFailure) fail(failure);
  });
}

function fail(error: ClientFailure | EnvironmentFileError): void {
  process.exitCode = error instanceof ClientFailure ? error.exitCode : 1;
  // `| head` has what it wanted.
  if (process.exitCode !== 141) process.stderr.write(`${error.message}\n`);
}
