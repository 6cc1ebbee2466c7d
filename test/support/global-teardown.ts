import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dropCitusDatabases, usesCitus } from './citus';
import { leaks } from './log-watch';

export default async function tearDown(): Promise<void> {
  const started = globalThis.embeddedPostgres;
  if (started === undefined) return;
  // Of `--runInBand`, where the tests run in this process.
  await createRequire(__filename)('./jest/shared-services.cjs').stopShared();
  await started.server.stop();
  if (usesCitus) await dropCitusDatabases();
  await rm(started.dataDir, { recursive: true, force: true });
  const { lines, secrets, found } = leaks(started.logs);
  if (found.length > 0) {
    throw new Error(
      `Of ${secrets} secrets, these stand in the ${lines} log lines of ${started.logs}: ${found.join(', ')}`,
    );
  }
  process.stdout.write(`None of ${secrets} credentials, identities and properties stands in ${lines} log lines.\n`);
  await rm(started.logs, { recursive: true, force: true });
}
