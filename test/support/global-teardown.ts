import { rm } from 'node:fs/promises';

export default async function tearDown(): Promise<void> {
  const started = globalThis.embeddedPostgres;
  await started?.server.stop();
  if (started !== undefined) await rm(started.dataDir, { recursive: true, force: true });
}
