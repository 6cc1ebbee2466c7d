import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { queuePartitionKey, type QueuePartition } from '../ingest/queue/queue-partition';
import { BEFORE_ALL_PARTITIONS, EventQueue, type Reading } from '../ingest/queue/event-queue';
import { QueueSignal, type Queued } from '../ingest/queue/queue-signal';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { databaseFailure } from '../platform/postgres/database-errors';
import { CrossWorkspaceReads } from '../platform/postgres/distribution/cross-workspace-reads';
import { NodeConnections } from '../platform/postgres/distribution/node-connections';
import { WorkspaceNodes } from '../platform/postgres/distribution/workspace-nodes';
import type { Statement } from '../platform/postgres/statement';
import { PipelinedConnection, RolledBackError } from '../platform/postgres/pipelined-connection';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { randomId } from '../platform/values/ids';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import { IngestLoad } from './ingest-load';
import { PartitionSchedule } from './partition-schedule';
import { isDatabaseAway, isPartlyAway, isSessionLost } from './effect-errors';
import { QueueBatch, type TurnOutcome } from './queue-batch';
import { QueuedBundles } from './queued-bundles';
import { QueueLeases } from './queue-leases';
import { QueueTurns } from './queue-turns';

const LOCK_TIMEOUT_MS = 1_000;
/** An effect with a longer statement is cancelled and fails. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Bundles are processed at most so often, so that many share a commit. The poll for partitions follows each time. */
const BUNDLES_EVERY_MS_MIN = 100;
/** An idle process polls for entries of other processes at random intervals between these. */
const POLL_MS_MIN = 100;
const POLL_MS_MAX = 500;
/** Of one poll; the next poll goes on after them. It takes about ten milliseconds. */
const PARTITIONS_PER_POLL = 500;
/** While there are partitions left to work on. */
const POLLS_PER_LOOK = 4;
const RECONNECT_MS = 300;
/** A partition whose turn failed for a reason of its own is skipped for so long; other partitions go on. */
const SET_ASIDE_MS = 1_000;
/** So many deadlocks and lost races in a row; then the entries are tried one by one to find the cause. */
const REPEATS_MAX = 5;
const LEASES_REMEMBERED_MAX = 100_000;
/** Used like the key of a partition in the log. */
const POLL = 'poll of the queue';

/**
 * Takes events out of the queue and applies their effects (contract section 8), in any number of processes at once. The
 * lease of a partition keeps its entries in order. A signal announces entries of this process at once; polling finds
 * those of others.
 */
@Injectable()
export class EventWorker implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventWorker.name);
  /** One for each connection: the database may refuse one while the other is open. */
  private readonly pollOutage = new OutageLog(this.logger, {
    began: 'The queue of events cannot be polled.',
    ended: 'The queue of events is polled again.',
  });
  private readonly turnOutage = new OutageLog(this.logger, {
    began: 'Events wait for the database.',
    ended: 'Events are processed again.',
  });
  private readonly schedule = new PartitionSchedule();
  private readonly ingest: IngestLoad;
  private readonly pollConnection: PipelinedConnection;
  private readonly bundleConnections: NodeConnections;
  private readonly connections: NodeConnections;
  /** Limited by `maxSize` with entries of size 1: `max` would allocate all the memory at the start. */
  private readonly leased = new LRUCache<string, true>({ maxSize: LEASES_REMEMBERED_MAX, sizeCalculation: () => 1 });
  private readonly stopped = new AbortController();
  private readonly waiting = new Map<string, QueuePartition>();
  /** Partitions (and the poll) whose last attempt failed, other than by an absent database. */
  private readonly failing = new Set<string>();
  /** End the waits of the two loops: `work` and `poll`. */
  private wake: () => void = () => undefined;
  private wakePoll: () => void = () => undefined;
  private working: Promise<unknown> | undefined;

  constructor(
    private readonly batch: QueueBatch,
    private readonly bundles: QueuedBundles,
    private readonly queue: EventQueue,
    private readonly crossWorkspace: CrossWorkspaceReads,
    private readonly leases: QueueLeases,
    private readonly turns: QueueTurns,
    private readonly signal: QueueSignal,
    nodes: WorkspaceNodes,
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {
    const options = {
      applicationName: 'cds-worker',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    };
    this.ingest = new IngestLoad(settings);
    this.pollConnection = new PipelinedConnection(settings, options);
    this.bundleConnections = new NodeConnections(settings, nodes, options);
    this.connections = new NodeConnections(settings, nodes, options);
    // Every skipped partition listens to it.
    setMaxListeners(0, this.stopped.signal);
  }

  /** Starts the worker. A process with `ROLE=api` does not call it. */
  start(): void {
    if (this.working !== undefined) return;
    this.schedule.onWork = () => this.wake();
    this.signal.listen((queued) => this.addQueued(queued));
    this.working = Promise.all([this.poll(), this.work()]);
  }

  /** Starts no further turn, and resolves when the running one has ended. */
  async stop(): Promise<void> {
    this.signal.listen(undefined);
    this.stopped.abort();
    this.wake();
    this.wakePoll();
    await this.working;
  }

  /** Runs before the connections close that effects may need. */
  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(
      [this.pollConnection, this.bundleConnections, this.connections].map((connection) => connection.close()),
    );
  }

  private addQueued({ partitions, hasBundles }: Queued): void {
    this.schedule.add(partitions);
    if (hasBundles) this.wakePoll();
  }

  /**
   * Processes bundles and finds partitions with entries, all of them in turn; more often while it finds some. While the
   * worker has partitions left, only each fourth poll looks for others: each entry that was removed since the last
   * vacuum makes it slower.
   */
  private async poll(): Promise<void> {
    const read: Reading = (...query) => this.pollConnection.query(...query);
    let after = BEFORE_ALL_PARTITIONS;
    for (let polls = 0; !this.stopped.signal.aborted; polls += 1) {
      let hasWork = !this.schedule.isEmpty;
      let isMore = false;
      try {
        isMore = await this.bundles.process(this.pollConnection, this.bundleConnections);
        if (!hasWork || polls % POLLS_PER_LOOK === 0) {
          const found = await this.queue.partitions(read, after, PARTITIONS_PER_POLL);
          after = found.length < PARTITIONS_PER_POLL ? BEFORE_ALL_PARTITIONS : (found.at(-1) ?? BEFORE_ALL_PARTITIONS);
          this.schedule.add(found);
          hasWork ||= found.length > 0;
        }
        if (hasWork) {
          await this.ingest.sample(<T>(statement: Statement) => this.crossWorkspace.ofServers<T>(read, statement));
        }
        this.succeeded(POLL, this.pollOutage);
      } catch (error) {
        after = BEFORE_ALL_PARTITIONS;
        hasWork = false;
        this.failed(POLL, this.pollOutage, error);
      }
      if (!isMore) await this.untilNextPoll(hasWork);
    }
  }

  private async untilNextPoll(hasWork: boolean): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.wakePoll = resolve));
    await this.pause(BUNDLES_EVERY_MS_MIN);
    if (this.stopped.signal.aborted) return;
    const ms = hasWork ? POLL_MS_MIN : POLL_MS_MIN + Math.random() * (POLL_MS_MAX - POLL_MS_MIN);
    const timer = setTimeout(this.wakePoll, ms - BUNDLES_EVERY_MS_MIN);
    await woken;
    clearTimeout(timer);
  }

  /** One turn at a time: parallel turns hardly shorten a backlog, and slow down ingest. */
  private async work(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const partition = this.schedule.next();
      if (partition === undefined) await this.somethingToDo();
      else await this.takeTurn(partition);
    }
  }

  private async takeTurn(partition: QueuePartition): Promise<void> {
    if (this.crossWorkspace.isAway(partition.tenantId)) {
      void this.pause(SET_ASIDE_MS).then(() => this.schedule.done(partition, false));
      return;
    }
    try {
      const startedAt = performance.now();
      const outcome = await this.turn(partition);
      this.succeeded(queuePartitionKey(partition), this.turnOutage);
      // After a failover its row may be missing: a standby may lack the last transactions.
      if (!outcome.hasLease) this.leased.delete(queuePartitionKey(partition));
      if (outcome.isMore) await this.pause(this.ingest.restMs(performance.now() - startedAt));
      this.schedule.add(outcome.released);
      this.schedule.done(partition, outcome.isMore);
      this.noteWaiting(partition, outcome);
    } catch (error) {
      this.failed(queuePartitionKey(partition), this.turnOutage, error);
      const isOver = this.pauseAfter(error).then(() => this.schedule.done(partition, false));
      // Where only a node is down, partitions of other nodes go on.
      if (isDatabaseAway(error) && !isPartlyAway(error, this.settings)) await isOver;
    }
  }

  private async turn(partition: QueuePartition): Promise<TurnOutcome> {
    for (let repeats = 0, carefully = false; ; repeats += 1) {
      const turnId = randomId();
      try {
        await this.createLease(partition);
        return await this.connections.transaction(
          (open) => this.batch.run(open, partition, { turnId, carefully }),
          partition.tenantId,
        );
      } catch (error) {
        // If this fails too, the turn counts as interrupted: its entries are tried one by one.
        if (!isSessionLost(error)) await this.turns.forget(partition, turnId).catch(() => undefined);
        if (isDatabaseAway(error) || carefully) throw error;
        carefully = !isPassingByItself(error) || repeats >= REPEATS_MAX;
      }
    }
  }

  private async createLease(partition: QueuePartition): Promise<void> {
    if (this.leased.has(queuePartitionKey(partition))) return;
    await this.connections.transaction((open) => this.leases.create(open, partition), partition.tenantId);
    this.leased.set(queuePartitionKey(partition), true);
  }

  /** Entries that wait for earlier ones in another partition may be ready after a turn in their workspace. */
  private noteWaiting(partition: QueuePartition, { taken, isWaiting }: TurnOutcome): void {
    const released = [...this.waiting].filter(([, { tenantId }]) => taken > 0 && tenantId === partition.tenantId);
    for (const [name] of released) this.waiting.delete(name);
    if (isWaiting) this.waiting.set(queuePartitionKey(partition), partition);
    this.schedule.add(released.map(([, waiting]) => waiting));
  }

  private async somethingToDo(): Promise<void> {
    if (!this.schedule.isEmpty || this.stopped.signal.aborted) return;
    await new Promise<void>((resolve) => (this.wake = resolve));
  }

  /** Prevents a busy loop. */
  private pauseAfter(error: unknown): Promise<void> {
    return this.pause((isDatabaseAway(error) ? RECONNECT_MS : SET_ASIDE_MS) * (0.5 + Math.random()));
  }

  private async pause(ms: number): Promise<void> {
    if (ms > 0) await wait(ms, undefined, { signal: this.stopped.signal }).catch(() => undefined);
  }

  private succeeded(what: string, outage: OutageLog): void {
    outage.succeeded();
    if (this.failing.delete(what)) this.logger.log(`Events are processed again (${what}).`);
  }

  /** Logs the cause, once until the next success. */
  private failed(what: string, outage: OutageLog, error: unknown): void {
    if (this.stopped.signal.aborted) return;
    const { line, stack } = describeError(error);
    if (isDatabaseAway(error)) outage.failed(line);
    else if (!this.failing.has(what)) {
      this.failing.add(what);
      this.logger.error(`Events cannot be processed (${what}): ${line}`, stack);
    }
  }
}

/** Whether the same turn can succeed when it is repeated at once. */
function isPassingByItself(error: unknown): boolean {
  return error instanceof LostRaceError || error instanceof RolledBackError || databaseFailure(error) === 'repeat';
}
