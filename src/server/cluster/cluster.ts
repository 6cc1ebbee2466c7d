import { createServer, type AddressInfo } from 'node:net';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { allowedCores, keepToCore } from './cluster-cores';
import { ClusterMetrics, type FromWorker } from './cluster-metrics';
import type { WorkerReport } from './cluster-worker';
import { WORKER_FLAGS } from './worker-flags';
import type { Settings } from '../../platform/config/settings';
import { messageOf } from '../../platform/errors/error-summary';
import type { JsonLogger } from '../../platform/observability/logger';
import { listening, listeningHost } from '../listening';
import { makeFirstKey, type Start } from '../service';

/** Longer than a worker takes to drain (`service.ts`), and short enough to stop the database within 10 s in total. */
const WORKER_STOP_MS_MAX = 8_000;
/** The delay before an ended worker is replaced. It doubles each time that the new one ends soon. */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;
/** A worker that has run this long has started successfully. The delay begins at its minimum again. */
const STABLE_MS = 60_000;

/**
 * Serves with several processes on one port (`WORKERS`). The primary process prepares everything once, distributes
 * connections to workers in turn (Node's cluster) and replaces ended workers. Workers behave like separate nodes. They end
 * with the primary, also when it is killed.
 */
export const serveByWorkers: Start = async (context) => {
  const { settings, database, logger } = context;
  const workers = new Workers(settings.workers, coresOf(settings), logger);
  // Workers load their code meanwhile, and serve when there is a key.
  const shared = makeFirstKey(context).then(() =>
    withPort({ ...settings, host: listeningHost(settings), databaseUrl: database.url }),
  );
  try {
    return { url: await workers.start(shared), stop: () => workers.stop() };
  } catch (error) {
    await workers.stop();
    throw error;
  }
};

class Workers {
  private readonly running = new Set<Worker>();
  private readonly stopped = new AbortController();
  private readonly metrics: ClusterMetrics;

  constructor(
    private readonly count: number,
    /** One core per worker, or empty: then the system schedules them. */
    private readonly cores: readonly number[],
    private readonly logger: JsonLogger,
  ) {
    this.metrics = new ClusterMetrics(count);
    const execArgv = [...process.execArgv, ...WORKER_FLAGS];
    cluster.setupPrimary({ exec: join(__dirname, 'cluster-worker.js'), args: [], execArgv });
  }

  /** Returns the address once all workers serve. Throws when one cannot, or when there are no settings. */
  async start(preparing: Promise<Settings>): Promise<string> {
    const first = Array.from({ length: this.count }, (_unused, index) => this.fork(preparing, index));
    const [settings, url = ''] = await Promise.all([preparing, ...first.map(served)]);
    first.forEach((worker, index) => void this.keepRunning(worker, settings, index));
    return url;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all([...this.running].map(end));
  }

  /** The worker serves as soon as it has settings. */
  private fork(preparing: Promise<Settings>, index: number): Worker {
    const worker = cluster.fork();
    const core = this.cores[index];
    const { pid } = worker.process;
    if (core !== undefined && pid !== undefined) keepToCore(pid, core);
    this.running.add(worker);
    worker.once('exit', () => this.running.delete(worker));
    // A message that cannot be sent, since it has died: its exit is handled.
    worker.on('error', () => undefined);
    this.metrics.add(worker);
    // Not by its environment, which other processes can read: the settings contain secrets.
    preparing.then(
      (settings) => worker.send(settings),
      // The start ends with this error.
      () => undefined,
    );
    return worker;
  }

  /** Replaces a worker whenever it ends, until `stop`. */
  private async keepRunning(first: Worker, settings: Settings, index: number): Promise<void> {
    let restartMs = RESTART_MS_MIN;
    for (let worker = first; ;) {
      const startedMs = performance.now();
      await ended(worker);
      if (this.isStopped()) return;
      if (performance.now() - startedMs > STABLE_MS) restartMs = RESTART_MS_MIN;
      this.logger.error(`A worker process has ended; another is started in ${restartMs} ms.`, 'Cluster');
      await wait(restartMs, undefined, { signal: this.stopped.signal }).catch(() => undefined);
      if (this.isStopped()) return;
      restartMs = Math.min(2 * restartMs, RESTART_MS_MAX);
      worker = this.fork(Promise.resolve(settings), index);
      served(worker).catch((error: unknown) => this.logger.error(messageOf(error), 'Cluster'));
    }
  }

  private isStopped(): boolean {
    return this.stopped.signal.aborted;
  }
}

/** A core for each worker, when WORKER_CORES is `own` and there are as many cores as workers. */
function coresOf({ workers, workerCores }: Settings): readonly number[] {
  const cores = workerCores === 'own' ? allowedCores() : [];
  return cores.length === workers ? cores : [];
}

/** The address that a worker serves on. Throws with the worker's message when it cannot serve. */
async function served(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerReport | FromWorker) => {
      if ('url' in message) resolve(message.url);
      else if ('failure' in message) reject(new Error(message.failure));
    });
    worker.once('exit', () => reject(new Error('A worker process ended while it was started.')));
  });
}

/** Resolves when a worker has ended, or could not be started. Other errors, of messages to it, must not end the service. */
function ended(worker: Worker): Promise<void> {
  if (worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve();
    });
  });
}

/** Stops a worker; kills it when it does not drain in time. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const timeout = setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_MS_MAX);
  worker.process.kill('SIGTERM');
  await ended(worker);
  clearTimeout(timeout);
}

/** Replaces port 0 by a free port, so that workers that start later use the same one. */
async function withPort<Listening extends Settings & { readonly host: string }>(
  settings: Listening,
): Promise<Listening> {
  const { host } = settings;
  if (settings.port !== 0) return settings;
  const probe = createServer().listen(0, host);
  await listening(once(probe, 'listening'), { port: 0, host });
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return { ...settings, port };
}
