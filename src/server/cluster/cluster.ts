import { createServer, type AddressInfo } from 'node:net';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { allowedCores, keepToCore } from './cluster-cores';
import { ClusterMetrics, type FromWorker } from './cluster-metrics';
import type { WorkerReport } from './cluster-worker';
import type { Settings } from '../../platform/config/settings';
import { messageOf } from '../../platform/errors/error-summary';
import type { JsonLogger } from '../../platform/observability/logger';
import { listeningHost, makeFirstKey, type Start } from '../service';

/** Longer than a worker takes to drain (`service.ts`), and short enough to stop the database within the 10 s of a stop. */
const WORKER_STOP_MS_MAX = 8_000;
/** A worker that ends by itself is started again after this, and after twice as long each time it happens again soon. */
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;
/** One that has lived so long has not ended because it was started. */
const SETTLED_MS = 60_000;
/** Half of V8's young generation: in one of the usual 16 MiB what a batch is made of outlives collections, and is copied. */
const YOUNG_MIB = 32;
/** A worker collects its young garbage by itself: the threads that would help it run on cores that belong to other workers. */
const COLLECTS_ALONE = ['--no-parallel-scavenge', '--no-concurrent-array-buffer-sweeping'];

/**
 * Serves with several processes on one port (`WORKERS`). This process prepares everything once, hands connections out to
 * workers in turn (Node's cluster) and starts another where one has ended; to each other they are like nodes of an
 * installation. Workers end with this process, however that ends.
 */
export const serveByWorkers: Start = async (context) => {
  const { settings, database, logger } = context;
  const firstKey = await makeFirstKey(context);
  const shared = await withPort({ ...settings, host: listeningHost(settings), databaseUrl: database.url });
  const workers = new Workers(settings.workers, coresOf(settings), logger);
  try {
    return { url: await workers.start(shared), firstKey, stop: () => workers.stop() };
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
    /** One for each, or none: then they run wherever the system has them run. */
    private readonly cores: readonly number[],
    private readonly logger: JsonLogger,
  ) {
    this.metrics = new ClusterMetrics(count);
    const execArgv = [...process.execArgv, `--max-semi-space-size=${YOUNG_MIB}`, ...COLLECTS_ALONE];
    cluster.setupPrimary({ exec: join(__dirname, 'cluster-worker.js'), args: [], execArgv });
  }

  /** Answers the address once all of them serve; throws when one cannot. */
  async start(settings: Settings): Promise<string> {
    const first = Array.from({ length: this.count }, (_unused, place) => this.fork(settings, place));
    const [url = ''] = await Promise.all(first.map(served));
    first.forEach((worker, place) => void this.keep(worker, settings, place));
    return url;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await Promise.all([...this.running].map(end));
  }

  private fork(settings: Settings, place: number): Worker {
    const worker = cluster.fork();
    const core = this.cores[place];
    const { pid } = worker.process;
    if (core !== undefined && pid !== undefined) keepToCore(pid, core);
    this.running.add(worker);
    worker.once('exit', () => this.running.delete(worker));
    // One that dies under the sending is noticed by its end.
    worker.on('error', () => undefined);
    this.metrics.add(worker);
    // Not through its environment, which others can look at: the settings hold secrets.
    worker.send(settings);
    return worker;
  }

  /** Starts another one where this one has ended, and so on, until all stop. */
  private async keep(first: Worker, settings: Settings, place: number): Promise<void> {
    let restartMs = RESTART_MS_MIN;
    for (let worker = first; ;) {
      const startedMs = performance.now();
      if (!worker.isDead()) await once(worker, 'exit');
      if (this.isStopped()) return;
      if (performance.now() - startedMs > SETTLED_MS) restartMs = RESTART_MS_MIN;
      this.logger.error(`A worker process has ended; another is started in ${restartMs} ms.`, 'Cluster');
      await wait(restartMs, undefined, { signal: this.stopped.signal }).catch(() => undefined);
      if (this.isStopped()) return;
      restartMs = Math.min(2 * restartMs, RESTART_MS_MAX);
      worker = this.fork(settings, place);
      served(worker).catch((error: unknown) => this.logger.error(messageOf(error), 'Cluster'));
    }
  }

  private isStopped(): boolean {
    return this.stopped.signal.aborted;
  }
}

/** Where a worker has a core of its own, and is to keep to it. */
function coresOf({ workers, workerCores }: Settings): readonly number[] {
  const cores = workerCores === 'own' ? allowedCores() : [];
  return cores.length === workers ? cores : [];
}

/** The address that a worker serves on; throws with its words when it cannot. */
async function served(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerReport | FromWorker) => {
      if ('url' in message) resolve(message.url);
      else if ('failure' in message) reject(new Error(message.failure));
    });
    worker.once('exit', () => reject(new Error('A worker process ended while it was started.')));
  });
}

/** Lets a worker drain, for a while. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  const patience = setTimeout(() => worker.process.kill('SIGKILL'), WORKER_STOP_MS_MAX);
  worker.process.kill('SIGTERM');
  await ended;
  clearTimeout(patience);
}

/** A free port stays the same for workers that are started later. */
async function withPort(settings: Settings): Promise<Settings> {
  if (settings.port !== 0) return settings;
  const probe = createServer().listen(0, settings.host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return { ...settings, port };
}
