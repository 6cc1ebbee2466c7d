import { rm } from 'node:fs/promises';
import { leaks } from './log-watch';

export default async function tearDown(): Promise<void> {
  const started = globalThis.embeddedPostgres;
  if (started === undefined) return;
  await started.server.stop();
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
