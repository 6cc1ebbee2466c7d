import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { queuePartitionKey, type QueuePartition } from '../ingest/queue/queue-partition';
import { BEFORE_ALL_PARTITIONS, EventQueue } from '../ingest/queue/event-queue';
import { QueueSignal, type Queued } from '../ingest/queue/queue-signal';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { databaseFailure } from '../platform/postgres/database-errors';
import { PipelinedConnection, RolledBackError } from '../platform/postgres/pipelined-connection';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { newMark } from '../platform/values/ids';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import { PartitionSchedule } from './partition-schedule';
import { isDatabaseAway, isSessionLost } from './effect-errors';
import { QueueBatch, type TurnOutcome } from './queue-batch';
import { QueuedBundles } from './queued-bundles';
import { QueueLeases } from './queue-leases';
import { QueueTurns } from './queue-turns';

/** While there is more to do, a turn is followed by a rest of this share of its time: events that come in must get through. */
const REST_SHARE = 0.5;
const LOCK_TIMEOUT_MS = 1_000;
/** An effect that takes longer is cancelled, and fails. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Bundles are worked off at most so often: what comes in meanwhile shares a commit. A look for places comes along with it. */
const ROUND_MS_MIN = 100;
/** An idle process looks so often, at random, for what other processes have queued. */
const LOOK_MS_MIN = 100;
const LOOK_MS_MAX = 500;
/** Of one look; the next one goes on behind them. Some ten milliseconds. */
const PLACES_PER_LOOK = 500;
const RECONNECT_MS = 300;
/** A place whose turns fail for a reason of its own is left alone for so long; the others go on meanwhile. */
const SET_ASIDE_MS = 1_000;
/** Deadlocks and lost races in a row; then the one that causes them is looked for. */
const REPEATS_MAX = 5;
const LEASES_REMEMBERED_MAX = 100_000;
/** Beside the names of places, in the log. */
const LOOK = 'look at the queue';

/**
 * Takes events out of the queue and has their effects applied (contract section 8). Any number of processes do so side by
 * side; the lease of a place keeps its entries in their order. Told at once of what this process queues; what others queue
 * is found by looking.
 */
@Injectable()
export class EventWorker implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventWorker.name);
  /** Of each connection: one may be refused while the other one is open. */
  private readonly lookOutage = new OutageLog(this.logger, {
    began: 'The queue of events cannot be looked through now.',
    ended: 'The queue of events is looked through again.',
  });
  private readonly turnOutage = new OutageLog(this.logger, {
    began: 'Events wait for the database.',
    ended: 'Events are processed again.',
  });
  private readonly schedule = new PartitionSchedule();
  private readonly scout: PipelinedConnection;
  private readonly connection: PipelinedConnection;
  /** By size, each entry of 1: `max` would set all the room aside at every start. */
  private readonly leased = new LRUCache<string, true>({ maxSize: LEASES_REMEMBERED_MAX, sizeCalculation: () => 1 });
  private readonly stopped = new AbortController();
  private readonly waiting = new Map<string, QueuePartition>();
  /** What has failed, and not for want of a database, since it last succeeded: places, and the look at the queue. */
  private readonly failing = new Set<string>();
  /** End the waits for something to do: of those who take turns, and of the scout. */
  private wake: () => void = () => undefined;
  private wakeScout: () => void = () => undefined;
  private working: Promise<unknown> | undefined;

  constructor(
    private readonly batch: QueueBatch,
    private readonly bundles: QueuedBundles,
    private readonly queue: EventQueue,
    private readonly leases: QueueLeases,
    private readonly turns: QueueTurns,
    private readonly signal: QueueSignal,
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
  ) {
    const open = (): PipelinedConnection =>
      new PipelinedConnection(connection, {
        ...{ applicationName: 'cds-worker', lockTimeoutMs: LOCK_TIMEOUT_MS },
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      });
    this.scout = open();
    this.connection = open();
    // Each place that is set aside waits for it.
    setMaxListeners(0, this.stopped.signal);
  }

  /** Begins to work. A process that only takes events does not call it. */
  start(): void {
    if (this.working !== undefined) return;
    this.schedule.onWork = () => this.wake();
    this.signal.listen((queued) => this.note(queued));
    this.working = Promise.all([this.look(), this.work()]);
  }

  /** Begins no further turn, and resolves once those under way are over. */
  async stop(): Promise<void> {
    this.signal.listen(undefined);
    this.stopped.abort();
    this.wake();
    this.wakeScout();
    await this.working;
  }

  /** Before lanes and connections close, which effects may need. */
  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.scout, this.connection].map((connection) => connection.close()));
  }

  private note({ places, hasBundles }: Queued): void {
    this.schedule.add(places);
    if (hasBundles) this.wakeScout();
  }

  /** Works bundles off and looks for places with entries, all of them in turn; more often while it finds some. */
  private async look(): Promise<void> {
    let after = BEFORE_ALL_PARTITIONS;
    while (!this.stopped.signal.aborted) {
      let found: QueuePartition[] = [];
      let isMore = false;
      try {
        isMore = await this.bundles.workOff(this.scout);
        found = await this.queue.places((...query) => this.scout.query(...query), after, PLACES_PER_LOOK);
        this.schedule.add(found);
        this.succeeded(LOOK, this.lookOutage);
      } catch (error) {
        this.failed(LOOK, this.lookOutage, error);
      }
      after = found.length < PLACES_PER_LOOK ? BEFORE_ALL_PARTITIONS : (found.at(-1) ?? BEFORE_ALL_PARTITIONS);
      if (!isMore) await this.untilNextLook(found.length > 0);
    }
  }

  private async untilNextLook(hasFound: boolean): Promise<void> {
    const told = new Promise<void>((resolve) => (this.wakeScout = resolve));
    await this.pause(ROUND_MS_MIN);
    if (this.stopped.signal.aborted) return;
    const ms = hasFound ? LOOK_MS_MIN : LOOK_MS_MIN + Math.random() * (LOOK_MS_MAX - LOOK_MS_MIN);
    const timer = setTimeout(this.wakeScout, ms - ROUND_MS_MIN);
    await told;
    clearTimeout(timer);
  }

  /** One turn at a time: more work off a backlog hardly faster, and take more from the events that come in. */
  private async work(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const place = this.schedule.next();
      if (place === undefined) await this.somethingToDo();
      else await this.takeTurn(place);
    }
  }

  private async takeTurn(place: QueuePartition): Promise<void> {
    try {
      const startedAt = performance.now();
      const outcome = await this.turn(place);
      this.succeeded(queuePartitionKey(place), this.turnOutage);
      if (outcome.isMore) await this.pause((performance.now() - startedAt) * REST_SHARE);
      this.schedule.add(outcome.released);
      this.schedule.done(place, outcome.isMore);
      this.noteWaiting(place, outcome);
    } catch (error) {
      this.failed(queuePartitionKey(place), this.turnOutage, error);
      const isOver = this.pauseAfter(error).then(() => this.schedule.done(place, false));
      if (isDatabaseAway(error)) await isOver;
    }
  }

  private async turn(place: QueuePartition): Promise<TurnOutcome> {
    for (let repeats = 0, carefully = false; ; repeats += 1) {
      const turnId = newMark();
      try {
        await this.createLease(place);
        return await this.connection.transaction((open) => this.batch.run(open, place, { turnId, carefully }));
      } catch (error) {
        // Where that cannot be done the turn counts as one that was cut off: its entries are tried one by one.
        if (!isSessionLost(error)) await this.turns.forget(place, turnId).catch(() => undefined);
        if (isDatabaseAway(error) || carefully) throw error;
        carefully = !isPassingByItself(error) || repeats >= REPEATS_MAX;
      }
    }
  }

  private async createLease(place: QueuePartition): Promise<void> {
    if (this.leased.has(queuePartitionKey(place))) return;
    await this.connection.transaction((open) => this.leases.create(open, place));
    this.leased.set(queuePartitionKey(place), true);
  }

  /** What waits for earlier entries elsewhere in the workspace may go on once something there was done. */
  private noteWaiting(place: QueuePartition, { taken, isWaiting }: TurnOutcome): void {
    const released = [...this.waiting].filter(([, { tenantId }]) => taken > 0 && tenantId === place.tenantId);
    for (const [name] of released) this.waiting.delete(name);
    if (isWaiting) this.waiting.set(queuePartitionKey(place), place);
    this.schedule.add(released.map(([, waiting]) => waiting));
  }

  private async somethingToDo(): Promise<void> {
    if (!this.schedule.isEmpty || this.stopped.signal.aborted) return;
    await new Promise<void>((resolve) => (this.wake = resolve));
  }

  /** So that nobody goes round in a circle. */
  private pauseAfter(error: unknown): Promise<void> {
    return this.pause((isDatabaseAway(error) ? RECONNECT_MS : SET_ASIDE_MS) * (0.5 + Math.random()));
  }

  private async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.stopped.signal }).catch(() => undefined);
  }

  private succeeded(what: string, outage: OutageLog): void {
    outage.succeeded();
    if (this.failing.delete(what)) this.logger.log(`Events are processed again (${what}).`);
  }

  /** Tells why, once until it succeeds. */
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

/** Nobody's fault: the same can go through at once. */
function isPassingByItself(error: unknown): boolean {
  return error instanceof LostRaceError || error instanceof RolledBackError || databaseFailure(error) === 'repeat';
}
