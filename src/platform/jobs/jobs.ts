import { EventEmitter } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { run, type Runner, type Task, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Pool } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../values/clock';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../postgres/connection-settings';
import type { Statement } from '../postgres/statement';
import type { Transaction } from '../postgres/pipelined-connection';
import { describeError } from '../errors/error-summary';
import { OutageLog } from '../errors/outage-log';
import { ConnectionMetrics } from '../observability/connection-metrics';
import { Metrics } from '../observability/metrics';
import { JobHeartbeat } from './job-heartbeat';
import { openJobPool } from './job-pool';
import { jobLogger, JOBS_SCHEMA } from './jobs-schema';
import { JobSchedule } from './job-schedule';

/** Ids only. The data of a job are in the service's own tables, where an erasure finds them. */
export type JobPayload = Readonly<Record<string, string>>;

/**
 * Runs a job. It may be called again after it has succeeded (a process was killed before that was recorded) and, rarely, while
 * another process runs it, so it must be idempotent. It should take a second or two and add another job for the rest: a stop
 * waits for it.
 */
export type JobWork = (payload: JobPayload) => Promise<void>;

export interface LaterJob {
  readonly key: string;
  readonly delayMs: number;
}

export interface JobOptions {
  /**
   * Ends what a job is about after its last attempt, also if that was cut off with its process. Is tried again like the job
   * itself.
   */
  readonly giveUp?: JobWork;
  /** Also adds jobs on this schedule, in UTC. */
  readonly cron?: string;
  /**
   * Also adds one after the database's clock was set back by over a second. `since` in the payload: the earliest time that it
   * can have shown since, as RFC 3339.
   */
  readonly onSetBack?: boolean;
}

interface Handler {
  readonly work: JobWork;
  readonly giveUp: JobWork | undefined;
  readonly cron: string | undefined;
}

/** For periodic checks (`cron` of `handle`). */
export const EVERY_MINUTE = '* * * * *';
export const EVERY_TEN_MINUTES = '*/10 * * * *';
/** A job that fails is tried again after 3 s, 7 s, 20 s and so on: for an hour and a half in all. */
const ATTEMPTS_MAX = 8;
/** Further attempts, which only give up: the process may be killed in the last one, or the database may be away. */
const GIVE_UP_ATTEMPTS_MAX = 8;
const OUTCOMES = ['done', 'failed'] as const;
/** Concurrent jobs of one process: more than one, so that a job does not wait for another's commits; few beside requests. */
const CONCURRENT_JOBS = 2;
/** The library is notified of new jobs. Polling finds jobs that are due later, and lost notifications. */
const POLL_MS = 1_000;
const RESTART_MS = 1_000;
const ADD_LATER: Statement = {
  name: 'jobs_add_later',
  text: `
    SELECT FROM cds_jobs.add_job($1::text, payload := $2::json, job_key := $3::text, max_attempts := $4::int,
      run_at := clock_timestamp() + $5::int * interval '1 millisecond', job_key_mode := 'preserve_run_at')`,
};
/** A part of the 10 s in which the service has to stop. */
const STOP_MS_MAX = 6_000;
const CONNECTIONS_MAX = CONCURRENT_JOBS + 2;
/** The end of a connection to a server that has vanished takes until the system notices. */
const POOL_END_MS_MAX = 1_000;

/**
 * Background jobs. They survive restarts and kills, and any number of processes share them. The library is graphile-worker, in
 * the same database and the caller's transaction. The queue of events is a separate table.
 */
@Injectable()
export class Jobs implements OnModuleDestroy {
  private readonly logger = new Logger(Jobs.name);
  private readonly outage = new OutageLog(this.logger, {
    began: 'Background jobs do not run now.',
    ended: 'Background jobs run again.',
  });
  private readonly handlers = new Map<string, Handler>();
  private readonly heartbeat: JobHeartbeat;
  private readonly stopped = new AbortController();
  private readonly attempts;
  private readonly times;
  private runner: Runner | undefined;
  private pool: Pool | undefined;
  private running: Promise<void> | undefined;
  private schedule: JobSchedule | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
    metrics: Metrics,
    connections: ConnectionMetrics,
  ) {
    connections.watch('jobs', () => this.pool);
    this.attempts = metrics.counter({
      name: 'cds_job_attempts_total',
      help: 'Attempts at background jobs, by outcome',
      labels: ['task', 'outcome'],
    });
    this.times = metrics.histogram({
      name: 'cds_job_seconds',
      help: 'Time of an attempt at a background job',
      labels: ['task'],
    });
    this.heartbeat = new JobHeartbeat(database, (error) => this.reportOutage(describeError(error).line));
  }

  /** Registers the handler of jobs with this name; before `start`. */
  handle(name: string, work: JobWork, { giveUp, cron, onSetBack = false }: JobOptions = {}): void {
    if (this.handlers.has(name)) throw new Error(`The job ${name} has two handlers`);
    this.handlers.set(name, { work, giveUp, cron });
    if (onSetBack) this.clock.onSetBack((since) => void this.addSetBack(name, since));
  }

  private async addSetBack(name: string, since: Date): Promise<void> {
    const added = this.add(this.database.manager, name, { since: since.toISOString() }, { key: 'set-back' });
    await added.catch((error: unknown) => this.logger.error(describeError(error).line));
  }

  /**
   * Adds a job in the caller's transaction, due after `delayMs` by the database's clock. At most one job with the same `key`
   * waits.
   */
  async add(
    manager: EntityManager,
    name: string,
    payload: JobPayload,
    { key, delayMs = 0 }: { readonly key: string; readonly delayMs?: number },
  ): Promise<void> {
    await manager.query(
      `SELECT FROM cds_jobs.add_job($1, payload := $2::json, job_key := $3, max_attempts := $4,
         run_at := CASE WHEN $5::int > 0 THEN clock_timestamp() + $5::int * interval '1 millisecond' END)`,
      [name, JSON.stringify(payload), `${name}/${key}`, this.attemptsMaxOf(name), Math.ceil(delayMs)],
    );
  }

  /**
   * Adds a job in a transaction of a hot path, together with its COMMIT. A waiting job with the same key keeps its time. On a
   * distributed database it is added behind COMMIT, since the transaction may be on a node without jobs; its owner looks for jobs
   * that were lost between the two.
   */
  addLater(transaction: Transaction, name: string, payload: JobPayload, options: LaterJob): void {
    const key = `${name}/${options.key}`;
    const values = [name, JSON.stringify(payload), key, this.attemptsMaxOf(name), options.delayMs];
    if (this.connection.isDistributed === true) transaction.afterCommit(() => void this.addNow(values));
    else transaction.sendLast(ADD_LATER, values);
  }

  private async addNow(values: readonly unknown[]): Promise<void> {
    await this.database.query(ADD_LATER.text, [...values]).catch((error: unknown) => {
      this.logger.warn(`A job could not be added: ${describeError(error).line}`);
    });
  }

  private attemptsMaxOf(name: string): number {
    return ATTEMPTS_MAX + (this.handlers.get(name)?.giveUp === undefined ? 0 : GIVE_UP_ATTEMPTS_MAX);
  }

  /** Starts to run jobs. A process that only adds jobs does not call it. */
  start(): void {
    // A rate needs a first sample at zero: the alert would miss the first failure of each process.
    for (const task of this.handlers.keys()) for (const outcome of OUTCOMES) this.attempts.inc({ task, outcome }, 0);
    this.running ??= this.runUntilStopped();
    this.schedule ??= new JobSchedule(this.database, this.clock, {
      jobs: [...this.handlers].flatMap(([name, { cron }]) => (cron === undefined ? [] : [{ name, cron }])),
      attemptsMax: ATTEMPTS_MAX,
      onError: (error) => this.reportOutage(describeError(error).line),
    });
  }

  /** Takes no further job and waits for running ones, at most six seconds. */
  async stop(): Promise<void> {
    this.stopped.abort();
    void this.runner?.stop().catch(() => undefined);
    await Promise.race([this.running, wait(STOP_MS_MAX, undefined, { ref: false })]);
    await Promise.all([this.heartbeat.stop(), this.schedule?.stop()]);
  }

  /** Nest calls this before it closes the group commits and connections that jobs need. */
  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  /**
   * The library stops when it cannot record the result of a job, and is stopped when it cannot look for one. Then it is started
   * again.
   */
  private async runUntilStopped(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await this.runOnce().catch((error: unknown) => this.reportOutage(describeError(error).line));
      await wait(RESTART_MS, undefined, { signal: this.stopped.signal, ref: false }).catch(() => undefined);
    }
  }

  private async runOnce(): Promise<void> {
    const pool = openJobPool(this.connection, CONNECTIONS_MAX);
    this.pool = pool;
    const events = this.events();
    const lookFailed = untilLookFailed(events);
    try {
      const runner = await run({
        pgPool: pool,
        schema: JOBS_SCHEMA,
        noHandleSignals: true,
        concurrency: CONCURRENT_JOBS,
        pollInterval: POLL_MS,
        taskList: this.taskList(),
        parsedCronItems: [],
        logger: jobLogger((message) => this.reportOutage(message)),
        events,
        // Without delays: otherwise a failure to record a job's result is an unhandled rejection, which ends the process.
        preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      });
      this.runner = runner;
      // The answer that was lost may have locked a job with the pool's id: the heartbeats of a new one free it.
      void lookFailed.then(() => runner.stop()).catch(() => undefined);
      if (this.stopped.signal.aborted) await runner.stop();
      await runner.promise;
    } finally {
      this.runner = undefined;
      this.pool = undefined;
      await Promise.race([pool.end(), wait(POOL_END_MS_MAX, undefined, { ref: false })]);
    }
  }

  private events(): WorkerEvents {
    const events: WorkerEvents = new EventEmitter();
    // Jobs are locked with the id of the pool, which is new at each start.
    events.on('pool:create', ({ workerPool }) => this.heartbeat.start(workerPool.id));
    // Both events show that the database has answered.
    for (const answered of ['worker:getJob:empty', 'job:start'] as const) {
      events.on(answered, () => this.outage.succeeded());
    }
    return events;
  }

  private taskList(): TaskList {
    return Object.fromEntries([...this.handlers].map(([name, handler]) => [name, this.task(name, handler)]));
  }

  private task(name: string, { work, giveUp }: Handler): Task {
    return async (sent, { job: { attempts } }) => {
      const payload = sent as JobPayload;
      const ended = this.times.startTimer({ task: name });
      const isOver = giveUp !== undefined && attempts > ATTEMPTS_MAX;
      const failure = await attempt(() => (isOver ? giveUp(payload) : work(payload)));
      ended();
      this.attempts.inc({ task: name, outcome: failure === undefined ? 'done' : 'failed' });
      if (failure === undefined) return;
      const { line, stack } = failure;
      this.logger.error(`The job ${name} failed in attempt ${attempts} of ${ATTEMPTS_MAX}: ${line}`, stack);
      const isLast = giveUp !== undefined && attempts === ATTEMPTS_MAX;
      if (isLast && (await attempt(() => giveUp(payload))) === undefined) return;
      // The library stores and logs this message. The message of the error itself may contain sensitive values.
      throw new Error(line);
    };
  }

  private reportOutage(reason: string): void {
    if (!this.stopped.signal.aborted) this.outage.failed(reason);
  }
}

/**
 * Resolves when a look for a job has failed and no other one is under way. The library writes an error of its own when it is
 * stopped during a look that fails.
 */
function untilLookFailed(events: WorkerEvents): Promise<void> {
  return new Promise((resolve) => {
    let looks = 0;
    let hasFailed = false;
    events.on('worker:getJob:start', () => (looks += 1));
    events.on('worker:getJob:error', () => (hasFailed = true));
    for (const ended of ['worker:getJob:error', 'worker:getJob:empty', 'job:start'] as const) {
      events.on(ended, () => {
        looks -= 1;
        // The library is at rest only after the event.
        if (hasFailed && looks === 0) setImmediate(resolve);
      });
    }
  });
}

/** The error of `work` without its message, or undefined. */
async function attempt(work: () => Promise<void>): Promise<{ line: string; stack: string } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}
