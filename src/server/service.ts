import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module';
import pluginMetadata from '../metadata';
import type { Settings } from '../platform/config/settings';
import { checkServer } from '../platform/postgres/check-server';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded/embedded-postgres';
import { migrate, pendingMigrationsOf } from '../platform/postgres/schema/migrate';
import { statusPolicy } from '../platform/errors/status-policy';
import { configureApp } from '../platform/http/server/configure-app';
import { ApiExpressAdapter, apiAdapterOf } from '../platform/http/server/express-adapter';
import { Jobs } from '../platform/jobs/jobs';
import { JsonLogger } from '../platform/observability/logger';
import { EventWorker } from '../processing/event-worker';
import { Readiness } from '../platform/health/readiness';
import { RequestObserver } from '../platform/http/server/request-observer';
import { apiDocumentTexts } from './api-document';
import { withSecretsKey } from './secrets-key';
import { openStandbyServer } from './standby-server';
import { BootstrapService } from '../workspaces/bootstrap.service';
import type { FirstKey } from '../workspaces/workspaces.service';

/** A stop waits this long for answers, `SHUTDOWN_DELAY_SECONDS` included; all of it takes 10 s at most. */
const DRAIN_MS_MAX = 7_000;

/** What serves, in this process or in others of this one's. */
export interface Serving {
  readonly url: string;
  /** Answers what is under way, stores what was taken, and stops. */
  stop(): Promise<void>;
}

/** A service that was started. */
export interface Service extends Serving {
  /** It waits for somebody to run the migrations. */
  readonly isWaiting: boolean;
  /**
   * Resolves when it serves, with the first key of a fresh installation, to be shown once; never when it is stopped before.
   * Rejects when it cannot begin after all.
   */
  readonly serving: Promise<FirstKey | undefined>;
}

interface Database extends ConnectionSettings {
  stop(): Promise<void>;
}

/** What is there once, however many processes serve: settings, with all that was left to us, and a database. */
export interface BootContext {
  readonly settings: Settings;
  readonly database: Database;
  readonly logger: JsonLogger;
}

/** Begins to serve over a migrated database. */
export type Start = (context: BootContext) => Promise<Serving & { readonly firstKey: FirstKey | undefined }>;

/**
 * Starts everything in its order: database, schema, first key, HTTP; the last two are `begin`'s. What fails leaves nothing behind.
 * A stop stops the embedded database last.
 */
export async function startService(given: Settings, begin: Start = serveHere): Promise<Service> {
  const logger = new JsonLogger(given.logLevel);
  const database = await openDatabase(given, logger);
  try {
    if (given.migrateOnStart === 'true') await migrate(database);
    else if ((await pendingMigrationsOf(database)) > 0) {
      return await serveLater({ settings: given, database, logger }, begin);
    }
    const begun = await begin({ settings: await withSecretsKey(given, database), database, logger });
    return {
      ...{ url: begun.url, isWaiting: false, serving: Promise.resolve(begun.firstKey) },
      stop: () => begun.stop().then(() => database.stop()),
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** Serves in this process. */
export const serveHere: Start = async ({ settings, database, logger }) => {
  const app = await createApp(settings, database, logger);
  const firstKey = await app.get(BootstrapService).run();
  return { ...(await listen(app, settings)), firstKey };
};

/** Makes the first key of a fresh installation without serving. */
export async function makeFirstKey({ settings, database, logger }: BootContext): Promise<FirstKey | undefined> {
  const parts = await createApp(settings, database, logger);
  try {
    return await parts.get(BootstrapService).run();
  } finally {
    await parts.close();
  }
}

/** Serves in this process over a database that another one has prepared; `prepare` gets the parts before anybody else. */
export async function serve(
  settings: Settings & { readonly databaseUrl: string },
  prepare: (parts: NestExpressApplication) => void,
): Promise<Serving> {
  const app = await createApp(settings, { url: settings.databaseUrl }, new JsonLogger(settings.logLevel));
  prepare(app);
  return listen(app, settings);
}

async function listen(app: NestExpressApplication, settings: Settings): Promise<Serving> {
  await app.listen(settings.port, listeningHost(settings));
  startWork(app, settings);
  return { url: urlOf(httpServerOf(app)), stop: () => stop(app, settings) };
}

/** Listens, and begins once somebody has run the migrations. */
async function serveLater(context: BootContext, begin: Start): Promise<Service> {
  const { settings, database, logger } = context;
  const pending = await pendingMigrationsOf(database);
  logger.warn(`${pending} migrations are pending; the service waits for them. Run npm run migrate.`, 'Service');
  const standby = await openStandbyServer({
    ...{ port: settings.port, host: listeningHost(settings), pending: () => pendingMigrationsOf(database) },
  });
  const url = urlOf(standby.server);
  const later = standby.over().then(async (port) => {
    return port === undefined
      ? undefined
      : begin({ ...context, settings: { ...(await withSecretsKey(settings, database)), port } });
  });
  return {
    ...{ url, isWaiting: true },
    serving: later.then((begun) => (begun === undefined ? new Promise<never>(() => undefined) : begun.firstKey)),
    stop: async () => {
      await standby.close();
      const begun = await later.catch(() => undefined);
      await begun?.stop();
      await database.stop();
    },
  };
}

/** An embedded database is for this machine, unless somebody says otherwise. */
export function listeningHost({ host, databaseUrl }: Settings): string {
  return host ?? (databaseUrl === undefined ? '127.0.0.1' : '0.0.0.0');
}

/** Brings the schema up to date and starts nothing; also beside services that run on it, and any number of times. */
export async function migrateDatabase(settings: Settings): Promise<void> {
  await onDatabase(settings, migrate);
}

/** Runs `work` beside a service or alone on its database, as that is: nothing is migrated, and no key is asked for. */
export async function onDatabase<Result>(
  settings: Settings,
  work: (database: ConnectionSettings) => Promise<Result>,
): Promise<Result> {
  const database = await databaseBeside(settings, new JsonLogger(settings.logLevel));
  try {
    return await work(database);
  } finally {
    await database.stop();
  }
}

/** The database of a service that may run already. */
async function databaseBeside(settings: Settings, logger: JsonLogger): Promise<Database> {
  const running = settings.databaseUrl === undefined ? await runningEmbeddedPostgres(settings.dataDir) : undefined;
  return running === undefined ? openDatabase(settings, logger) : { url: running, stop: () => Promise.resolve() };
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
    new ApiExpressAdapter(settings),
    { bodyParser: false, logger, abortOnError: false },
  );
  await configureApp(app, {
    pluginMetadata,
    texts: apiDocumentTexts(settings),
    batchItemsMax: settings.batchItemsMax,
    trustProxy: settings.trustProxy,
    statusPolicy: statusPolicy(settings),
    servesApi: settings.role !== 'worker',
    observer: app.get(RequestObserver).middleware(logger),
  });
  await app.init();
  httpServerOf(app).maxConnections = settings.connectionsMax;
  return app;
}

/** Begins what nobody waits for, in a process whose role it is. */
function startWork(app: NestExpressApplication, { role }: Settings): void {
  if (role === 'api') return;
  app.get(EventWorker).start();
  app.get(Jobs).start();
}

/**
 * Runs `work` with the parts of the service, which does not serve: beside a service that runs on the same data, or alone.
 * For the command-line tool.
 */
export async function withoutServing<Result>(
  given: Settings,
  work: (parts: NestExpressApplication) => Promise<Result>,
): Promise<Result> {
  const logger = new JsonLogger(given.logLevel);
  const database = await databaseBeside(given, logger);
  try {
    await migrate(database);
    const parts = await createApp(await withSecretsKey(given, database), database, logger);
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
  if (settings.databaseUrl !== undefined) {
    await checkServer({ url: settings.databaseUrl });
    return { url: settings.databaseUrl, stop: () => Promise.resolve() };
  }
  return startEmbeddedPostgres({
    dataDir: resolve(settings.dataDir),
    log: (message) => logger.log(message, 'EmbeddedPostgres'),
  });
}

async function stop(app: NestExpressApplication, { shutdownDelaySeconds }: Settings): Promise<void> {
  app.get(Readiness).stop();
  // First the requests under way, then what they need: Nest would close the lanes before the server.
  const drained = apiAdapterOf(app).drain(shutdownDelaySeconds * 1_000);
  await Promise.all([
    Promise.race([drained, wait(DRAIN_MS_MAX, undefined, { ref: false })]),
    app.get(Jobs).stop(),
    app.get(EventWorker).stop(),
  ]);
  httpServerOf(app).closeAllConnections();
  await app.close();
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? 'localhost' : address;
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`;
}

/** Nest gives it without a type. */
function httpServerOf(app: NestExpressApplication): Server {
  const server: Server = app.getHttpServer();
  return server;
}
