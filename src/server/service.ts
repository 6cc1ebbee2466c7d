import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module';
import pluginMetadata from '../metadata';
import type { Settings } from '../platform/config/settings';
import { CONSOLE_PATH, ConsoleGateway } from '../console/console-gateway';
import { oidcSettings } from '../console/oidc/domain/oidc-access';
import { LiveViewers } from '../console/live/live-viewers';
import { withDatabaseKind } from '../platform/postgres/distribution/database-kind';
import { checkServer } from '../platform/postgres/check-server';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import { joinOrStartEmbeddedPostgres, startEmbeddedPostgres } from '../platform/postgres/embedded/embedded-postgres';
import { settingsForProcesses } from '../platform/postgres/embedded/server-settings';
import { assertMigrated, ensureMigrated, migrate, pendingMigrationsOf } from '../platform/postgres/schema/migrate';
import { PlatformModule } from '../platform/platform.module';
import { statusPolicy } from '../platform/errors/status-policy';
import { configureApp, type Site } from '../platform/http/server/configure-app';
import { ApiExpressAdapter, apiAdapterOf } from '../platform/http/server/express-adapter';
import { Jobs } from '../platform/jobs/jobs';
import { logConsoleOutput } from '../platform/observability/console-output';
import { JsonLogger } from '../platform/observability/logger';
import { EventWorker } from '../processing/event-worker';
import { Readiness } from '../platform/health/readiness';
import { RequestObserver } from '../platform/http/server/request-observer';
import { apiDocumentTexts } from './api-document';
import { builtBodySchemas } from './body-schemas';
import { withSecretsKey } from './secrets-key';
import { listening, listeningHost, listeningUrl } from './listening';
import { openStandbyServer } from './standby-server';
import { WebhookDispatcher } from '../webhooks/delivery/dispatcher';
import { BootstrapService } from '../workspaces/bootstrap.service';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import type { FirstKey } from '../workspaces/workspaces.service';

/** A stop waits this long for answers, `SHUTDOWN_DELAY_SECONDS` included; all of it takes 10 s at most. */
const DRAIN_MS_MAX = 7_000;
/**
 * What has not ended by then waits for a database that does not answer, and is ended with the process: all that was acknowledged
 * is stored.
 */
const STOP_MS_MAX = 9_000;

/** A running server, in this process or in its workers. */
export interface Serving {
  readonly url: string;
  /** Answers running requests, stores accepted events, and stops. */
  stop(): Promise<void>;
}

/** A service that was started. */
export interface Service extends Serving {
  /** Whether it waits until an operator has run the migrations. */
  readonly isWaiting: boolean;
  /** Resolves when it serves. Rejects when it cannot start. Stays pending when it is stopped before. */
  readonly serving: Promise<void>;
}

interface Database extends ConnectionSettings {
  stop(): Promise<void>;
}

/** What all processes of the service share: complete settings, and a database. */
export interface BootContext {
  readonly settings: Settings;
  readonly database: Database;
  readonly logger: JsonLogger;
  readonly showFirstKey: ShowFirstKey;
}

/** Shows the generated key of a new installation, at once: the key is stored by then, and a start that fails makes no other. */
export type ShowFirstKey = (key: FirstKey) => void;

/** Starts to serve on a migrated database. */
export type Start = (context: BootContext) => Promise<Serving>;

/**
 * Starts in this order: database, schema, first key, HTTP. `start` does the last two. A failed start leaves nothing behind. A
 * stop stops the embedded database last.
 */
export async function startService(given: Settings, start: Start, showFirstKey: ShowFirstKey): Promise<Service> {
  // Before anything is started: these settings depend on each other.
  oidcSettings(given);
  const logger = new JsonLogger(given.logLevel);
  const database = await openDatabase(given, logger);
  try {
    if (given.migrateOnStart === 'true') await ensureMigrated(database);
    else if ((await pendingMigrationsOf(database)) > 0) {
      return await serveAfterMigration({ settings: given, database, logger, showFirstKey }, start);
    }
    const settings = await withSecretsKey(given, database);
    const started = await start({ settings, database, logger, showFirstKey });
    return {
      url: started.url,
      isWaiting: false,
      serving: Promise.resolve(),
      stop: () => started.stop().then(() => database.stop()),
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** Serves in this process. */
export const serveHere: Start = async ({ settings, database, logger, showFirstKey }) => {
  logConsoleOutput(logger);
  const app = await createApp(settings, database, logger);
  await bootstrap(app, showFirstKey);
  return listen(app, settings);
};

/** Creates and shows the first key of a new installation without serving. */
export async function makeFirstKey({ settings, database, logger, showFirstKey }: BootContext): Promise<void> {
  const parts = await NestFactory.createApplicationContext(
    { module: WorkspacesModule, imports: [PlatformModule.with(settings, await withDatabaseKind(database, settings))] },
    { logger, abortOnError: false },
  );
  try {
    await bootstrap(parts, showFirstKey);
  } finally {
    await parts.close();
  }
}

async function bootstrap(parts: INestApplicationContext, showFirstKey: ShowFirstKey): Promise<void> {
  const firstKey = await parts.get(BootstrapService).run();
  if (firstKey !== undefined) showFirstKey(firstKey);
}

/** Serves in this process on a database that another process has prepared. `prepare` gets the application before it listens. */
export async function serve(
  settings: Settings & { readonly databaseUrl: string },
  prepare: (app: NestExpressApplication) => void,
): Promise<Serving> {
  const logger = new JsonLogger(settings.logLevel);
  logConsoleOutput(logger);
  const app = await createApp(settings, { url: settings.databaseUrl }, logger);
  prepare(app);
  return listen(app, settings);
}

async function listen(app: NestExpressApplication, settings: Settings): Promise<Serving> {
  const { port } = settings;
  const host = listeningHost(settings);
  await listening(app.listen(port, host), { port, host });
  startWork(app, settings);
  const stop = () => Promise.race([stopAll(app, settings), wait(STOP_MS_MAX, undefined, { ref: false })]);
  return { url: listeningUrl(app.getHttpServer()), stop };
}

/** Listens with a standby server, and starts once the migrations have been run. */
async function serveAfterMigration(context: BootContext, start: Start): Promise<Service> {
  const { settings, database, logger } = context;
  const pending = await pendingMigrationsOf(database);
  logger.warn(`${pending} migrations are pending; the service waits for them. Run npm run migrate.`, 'Service');
  const standby = await openStandbyServer({
    port: settings.port,
    host: listeningHost(settings),
    pending: () => pendingMigrationsOf(database),
  });
  const starting = standby.untilMigrated().then(async (port) => {
    if (port === undefined) return undefined;
    return start({ ...context, settings: { ...(await withSecretsKey(settings, database)), port } });
  });
  return {
    url: listeningUrl(standby.server),
    isWaiting: true,
    serving: starting.then((started) => (started === undefined ? new Promise<never>(() => undefined) : undefined)),
    stop: async () => {
      await standby.close();
      const started = await starting.catch(() => undefined);
      await started?.stop();
      await database.stop();
    },
  };
}

/** Migrates the schema without starting the service. Safe beside running services, and idempotent. */
export async function migrateDatabase(settings: Settings): Promise<void> {
  await onDatabase(settings, migrate);
}

/** Runs `work` on the database, also beside a running service. Migrates nothing, and needs no secrets key. */
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

/** The database, also when a running service has started it. */
async function databaseBeside(settings: Settings, logger: JsonLogger): Promise<Database> {
  if (settings.databaseUrl !== undefined) return openDatabase(settings, logger);
  return joinOrStartEmbeddedPostgres(embeddedOptions(settings, logger));
}

/** The application on a migrated database, not listening yet. Tests add `further` controllers. */
export async function createApp(
  settings: Settings,
  connection: ConnectionSettings,
  logger: JsonLogger,
  further: Pick<DynamicModule, 'controllers'> = {},
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    { ...AppModule.with(settings, await withDatabaseKind(connection, settings)), ...further },
    new ApiExpressAdapter(settings),
    { bodyParser: false, logger, abortOnError: false },
  );
  await configureApp(app, {
    pluginMetadata,
    texts: apiDocumentTexts(settings),
    bodySchemas: builtBodySchemas(),
    batchItemsMax: settings.batchItemsMax,
    trustProxy: settings.trustProxy,
    statusPolicy: statusPolicy(settings),
    servesApi: settings.role !== 'worker',
    site: siteOf(app, settings),
    observer: app.get(RequestObserver).middleware(logger),
  });
  await app.init();
  app.getHttpServer().maxConnections = settings.connectionsMax;
  return app;
}

function siteOf(app: NestExpressApplication, settings: Settings): Site | undefined {
  if (settings.console === 'off' || settings.role === 'worker') return undefined;
  return { path: CONSOLE_PATH, handle: app.get(ConsoleGateway).handle };
}

/** Starts background work in a process with that role. */
function startWork(app: NestExpressApplication, { role }: Settings): void {
  if (role === 'api') return;
  app.get(EventWorker).start();
  app.get(WebhookDispatcher).start();
  app.get(Jobs).start();
}

/**
 * Runs `work` with an application that does not serve, also beside a running service on the same data. For the command-line
 * tool. `migrates: false`: throws where migrations are pending, instead of running them.
 */
export async function withoutServing<Result>(
  given: Settings,
  work: (parts: NestExpressApplication) => Promise<Result>,
  { migrates = true }: { readonly migrates?: boolean } = {},
): Promise<Result> {
  const logger = new JsonLogger(given.logLevel);
  const database = await databaseBeside(given, logger);
  try {
    if (migrates) await ensureMigrated(database);
    else await assertMigrated(database);
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
  return startEmbeddedPostgres(embeddedOptions(settings, logger));
}

function embeddedOptions(settings: Settings, logger: JsonLogger) {
  return {
    dataDir: resolve(settings.dataDir),
    settings: settingsForProcesses(settings.workers),
    log: (message: string) => logger.log(message, 'EmbeddedPostgres'),
  };
}

async function stopAll(app: NestExpressApplication, settings: Settings): Promise<void> {
  app.get(Readiness).stop();
  // Streams that nobody else ends.
  if (settings.console === 'on') app.get(LiveViewers).stop();
  // First the running requests, then what they need: Nest would close the group commits before the server.
  const drained = apiAdapterOf(app).drain(settings.shutdownDelaySeconds * 1_000);
  await Promise.all([
    Promise.race([drained, wait(DRAIN_MS_MAX, undefined, { ref: false })]),
    app.get(Jobs).stop(),
    app.get(EventWorker).stop(),
    app.get(WebhookDispatcher).stop(),
  ]);
  app.getHttpServer().closeAllConnections();
  await app.close();
}
