import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { readSettings } from '../../src/platform/config/env';
import { Jobs } from '../../src/platform/jobs/jobs';
import { JsonLogger } from '../../src/platform/observability/logger';
import { EventWorker } from '../../src/processing/event-worker';
import { createApp } from '../../src/server/service';
import { WebhookDispatcher } from '../../src/webhooks/delivery/dispatcher';
import { databaseUrl, workerDatabaseUrl, WORKSPACES } from './database';
import { inTurn } from './in-turn';
import { logFile } from './log-watch';
import { sharedInWorker } from './shared';

// By Node.js, which loads it once for all spec files of a Jest worker.
createRequire(__filename)('./jest/start-once.cjs');

export interface SharedApp {
  readonly url: string;
  readonly app: NestExpressApplication;
  readonly databaseUrl: string;
}

export interface TestApp extends SharedApp {
  stop(): Promise<void>;
}

/** Of the service under test. */
const SECRETS_KEY = 'a-secrets-key-for-tests-of-40-characters';

/**
 * The application as `main` makes it, in this process, on a free port and this spec file's database; `controllers` add routes to it.
 * Events stay in the queue, where a test can count them, unless it is to process them.
 */
export async function startApp(
  environment: Readonly<Record<string, string>> = {},
  database?: string,
  controllers: readonly Type[] = [],
  { processesEvents = false } = {},
): Promise<TestApp> {
  const url = database ?? (await databaseUrl());
  const settings = readSettings({ LOG_LEVEL: 'trace', SECRETS_KEY, ...WORKSPACES, ...environment, DATABASE_URL: url });
  const logger = new JsonLogger(settings.logLevel, logFile());
  const app = await inTurn(() => createApp(settings, { url }, logger, { controllers: [...controllers] }));
  await app.listen(0, '127.0.0.1');
  app.get(Jobs).start();
  if (processesEvents) app.get(EventWorker).start();
  if (processesEvents) app.get(WebhookDispatcher).start();
  return { url: await app.getUrl(), app, databaseUrl: url, stop: () => app.close() };
}

/** Refused credentials are counted by network address, which all tests share; receivers of webhooks listen on loopback. */
const SHARED = { AUTH_FAILURES_PER_MINUTE: '1000000', WEBHOOKS_ALLOW_PRIVATE: 'true' };

/**
 * The service that the spec files of a Jest worker share. A start costs as much as hundreds of requests. A file that looks
 * beyond its own workspaces, changes what belongs to all of them, or needs other settings, starts a service of its own.
 */
export function sharedApp({ processesEvents = false } = {}): Promise<SharedApp> {
  const name = `shared_${WORKSPACES.WORKSPACES_PER_COMMIT}${processesEvents ? '_working' : ''}`;
  return sharedInWorker(name, async () => startApp(SHARED, await workerDatabaseUrl(name), [], { processesEvents }));
}
