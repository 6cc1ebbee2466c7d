import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import pluginMetadata from './metadata';
import type { Settings } from './platform/config/settings';
import type { ConnectionSettings } from './platform/database/connection-settings';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from './platform/database/embedded-postgres';
import { migrate } from './platform/database/migrate';
import { statusPolicy } from './platform/errors/status-policy';
import { configureApp } from './platform/http/configure-app';
import { ApiExpressAdapter } from './platform/http/express-adapter';
import { Jobs } from './platform/jobs/jobs';
import { localSecretsKey } from './platform/secrets/local-secrets-key';
import { JsonLogger } from './platform/observability/logger';
import { BootstrapService } from './workspaces/bootstrap.service';
import type { FirstKey } from './workspaces/workspaces.service';

/** Requests under way get this long to be answered when the service is told to stop; all of it takes 10 s at most. */
const DRAIN_MS_MAX = 7_000;

/** A process that serves. */
export interface Serving {
  readonly url: string;
  /** Answers what is under way, stores what was taken, and stops. */
  stop(): Promise<void>;
}

/** A running service. */
export interface Service extends Serving {
  /** The first key of a fresh installation; to be shown once. */
  readonly firstKey: FirstKey | undefined;
}

interface Database extends ConnectionSettings {
  stop(): Promise<void>;
}

/** Starts everything in its order: database, schema, first key, HTTP. What fails leaves nothing behind. */
export async function startService(environment: Settings): Promise<Service> {
  const { settings, logger, database } = await layGround(environment);
  try {
    const app = await createApp(settings, database, logger);
    const firstKey = await app.get(BootstrapService).run();
    const serving = await listen(app, settings);
    return { url: serving.url, firstKey, stop: () => serving.stop().then(() => database.stop()) };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** What is there once, however many processes serve. */
export interface Prepared {
  /** What each of them is to `serve` with. */
  readonly settings: Settings;
  readonly firstKey: FirstKey | undefined;
  /** Stops the embedded database; they must have stopped before. */
  stop(): Promise<void>;
}

/** The part of starting that one process does for all that serve: database, schema, first key. */
export async function prepareService(environment: Settings): Promise<Prepared> {
  const { settings, logger, database } = await layGround(environment);
  try {
    const parts = await createApp(settings, database, logger);
    const firstKey = await parts.get(BootstrapService).run();
    await parts.close();
    const shared = { ...settings, host: hostOf(settings), databaseUrl: database.url };
    return { settings: shared, firstKey, stop: () => database.stop() };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** The other part: serves over a database that was prepared. */
export async function serve(settings: Settings & { readonly databaseUrl: string }): Promise<Serving> {
  const logger = new JsonLogger(settings.logLevel);
  return listen(await createApp(settings, { url: settings.databaseUrl }, logger), settings);
}

interface Ground {
  readonly settings: Settings;
  readonly logger: JsonLogger;
  readonly database: Database;
}

async function layGround(environment: Settings): Promise<Ground> {
  const settings = await withSecretsKey(environment);
  const logger = new JsonLogger(settings.logLevel);
  const database = await openDatabase(settings, logger);
  try {
    await migrate(database);
  } catch (error) {
    await database.stop();
    throw error;
  }
  return { settings, logger, database };
}

async function listen(app: NestExpressApplication, settings: Settings): Promise<Serving> {
  await app.listen(settings.port, hostOf(settings));
  app.get(Jobs).start();
  return { url: urlOf(app), stop: () => stop(app) };
}

/** An embedded database is for this machine, unless somebody says otherwise. */
function hostOf({ host, databaseUrl }: Settings): string {
  return host ?? (databaseUrl === undefined ? '127.0.0.1' : '0.0.0.0');
}

/** The application over a migrated database, not listening yet; tests use the same, with routes of their own beside it. */
export async function createApp(
  settings: Settings,
  connection: ConnectionSettings,
  logger: JsonLogger,
  further: Pick<DynamicModule, 'controllers'> = {},
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    { ...AppModule.with(settings, connection), ...further },
    new ApiExpressAdapter(),
    { bodyParser: false, logger, abortOnError: false },
  );
  await configureApp(app, {
    ...{ pluginMetadata, settings, trustProxy: settings.trustProxy },
    statusPolicy: statusPolicy(settings),
  });
  await app.init();
  return app;
}

/** An embedded database lives in a folder of ours, and a key can be made and kept beside it. */
async function withSecretsKey(settings: Settings): Promise<Settings> {
  if (settings.secretsKey !== undefined || settings.databaseUrl !== undefined) return settings;
  return { ...settings, secretsKey: await localSecretsKey(resolve(settings.dataDir)) };
}

/**
 * Runs `work` with the parts of the service, which does not serve: beside a service that runs on the same data, or alone.
 * For the command-line tool.
 */
export async function withoutServing<Result>(
  environment: Settings,
  work: (parts: NestExpressApplication) => Promise<Result>,
): Promise<Result> {
  const settings = await withSecretsKey(environment);
  const logger = new JsonLogger(settings.logLevel);
  const running = settings.databaseUrl === undefined ? await runningEmbeddedPostgres(settings.dataDir) : undefined;
  const database = await openDatabase({ ...settings, databaseUrl: running ?? settings.databaseUrl }, logger);
  try {
    await migrate(database);
    const parts = await createApp(settings, database, logger);
    try {
      return await work(parts);
    } finally {
      await parts.close();
    }
  } finally {
    await database.stop();
  }
}

async function openDatabase(settings: Settings, logger: JsonLogger): Promise<Database> {
  if (settings.databaseUrl !== undefined) return { url: settings.databaseUrl, stop: () => Promise.resolve() };
  return startEmbeddedPostgres({
    dataDir: resolve(settings.dataDir),
    log: (message) => logger.log(message, 'EmbeddedPostgres'),
  });
}

async function stop(app: NestExpressApplication): Promise<void> {
  // First the requests under way, then what they need: Nest would close the lanes before the server.
  const drained = app.getHttpAdapter().close() as Promise<void>;
  await Promise.all([Promise.race([drained, wait(DRAIN_MS_MAX, undefined, { ref: false })]), app.get(Jobs).stop()]);
  httpServerOf(app).closeAllConnections();
  await app.close();
}

function urlOf(app: NestExpressApplication): string {
  const { address, family, port } = httpServerOf(app).address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : address;
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`;
}

/** Nest gives it without a type. */
function httpServerOf(app: NestExpressApplication): Server {
  const server: Server = app.getHttpServer();
  return server;
}
