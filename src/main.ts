import { setTimeout as wait } from 'node:timers/promises';
import { serveByWorkers } from './server/cluster/cluster';
import { processEnvironment, readSettings } from './platform/config/env';
import { databaseProblem } from './platform/postgres/database-problem';
import { messageOf } from './platform/errors/error-summary';
import { migrateDatabase, serveHere, startService, type Service } from './server/service';
import type { FirstKey } from './workspaces/workspaces.service';

/** After this a stop that does not come to an end is ended (contract section 9: within 10 s). */
const STOP_MS_MAX = 9_500;
/** So late may a signal be noticed that has ended parts of the service already. */
const SIGNAL_MS_MAX = 200;

/** Only brings the schema up to date, for those who do that apart from starting. */
const MIGRATE = 'migrate';

// Without listeners, an output on a full disk or one that nobody reads any more would end the service.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
void begin(process.argv.slice(2));

async function begin([command, ...others]: readonly string[]): Promise<void> {
  if (command === undefined) return run();
  if (command === MIGRATE && others.length === 0) return migrateOnly();
  // Not repeated: an argument may be an address with a password.
  process.stderr.write(
    `The service takes no arguments except the command ${MIGRATE}. Its settings are environment variables (.env.example).\n`,
  );
  process.exitCode = 2;
}

async function migrateOnly(): Promise<void> {
  try {
    await migrateDatabase(readSettings(processEnvironment()));
    process.stdout.write('The schema is up to date.\n');
  } catch (error) {
    process.stderr.write(`The schema could not be brought up to date. ${databaseProblem(error) ?? messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

async function run(): Promise<void> {
  const stopping = new AbortController();
  try {
    const settings = readSettings(processEnvironment());
    const starting = startService(settings, settings.workers > 1 ? serveByWorkers : serveHere, showFirstKey);
    stopOnSignal(starting, stopping);
    const service = await starting;
    if (service.isWaiting) {
      process.stdout.write(`Campaign Data Service is listening on ${service.url} and waits for npm run migrate\n`);
    }
    await service.serving;
    process.stdout.write(`Campaign Data Service is listening on ${service.url}\nDocumentation: ${service.url}/docs\n`);
  } catch (error) {
    // Ctrl-C reaches the workers, too. It ends those that do not serve yet, perhaps before it is noticed here.
    await wait(SIGNAL_MS_MAX, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    process.stderr.write(`The service cannot start. ${databaseProblem(error) ?? messageOf(error)}\n`);
    process.exitCode = 1;
    // Whatever is half open must not keep a service alive that does not serve.
    setTimeout(() => process.exit(), 1_000).unref();
  }
}

/** A signal during the start lets it come to its end and stops then: half a start would leave a database to shut down. */
function stopOnSignal(starting: Promise<Service>, stopping: AbortController): void {
  let hasStarted = false;
  starting.then(
    () => (hasStarted = true),
    // `run` reports it.
    () => undefined,
  );
  const stop = (): void => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    // A start that is given up loses nothing, also when it comes to its end meanwhile.
    const codeOfLateEnd = hasStarted ? 1 : 0;
    setTimeout(() => process.exit(codeOfLateEnd), STOP_MS_MAX).unref();
    starting.then(stopService, () => process.exit());
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function stopService(service: Service): void {
  service.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`The service did not stop cleanly. ${messageOf(error)}\n`);
      process.exit(1);
    },
  );
}

/** For the operator's eyes, not for a log: the key is shown this once. */
function showFirstKey({ workspace, key }: FirstKey): void {
  process.stdout.write(`Admin key of the new workspace "${workspace}", shown only now: ${key}\n`, (error) => {
    if (!(error instanceof Error)) return;
    process.stderr.write(
      `The admin key of the new workspace "${workspace}" could not be shown. ` +
        `Make another one: npm run cds -- keys create --workspace ${workspace} --name admin --scope admin\n`,
    );
  });
}
