import { processEnvironment } from '../platform/config/env';
import { EnvironmentFileError } from '../platform/config/setting-parsers';
import { ClientFailure } from '../cli/running-service';
import { readOptions, USAGE } from './options';
import { progressOn } from './progress';
import { runDemo } from './run-demo';

void run();

/** Exit code 0: all right; 1: something is wrong, or cannot be done; 2: called the wrong way. */
async function run(): Promise<void> {
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
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error instanceof ClientFailure ? error.exitCode : 1;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
