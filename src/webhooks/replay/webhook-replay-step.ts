import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import { kindName } from '../../ingest/domain/event';
import { EventWindows, type EventCursor, type EventWindow } from '../../processing/event-window';
import { DequeuedEvents, type DequeuedEntry, type DequeuedEvent } from '../../processing/dequeued-events';
import { AGAIN, OVER, WAIT, type StepResult } from '../../processing/paced-steps';
import { SerialConnection } from '../../processing/serial-connection';
import { compileCondition } from '../../reactions/domain/compile-condition';
import { ADD_AGAIN } from '../delivery/delivery.sql';
import { DeliverySignal } from '../delivery/delivery-signal';
import type { RuleToMatch } from '../domain/match-rules';
import { matchEvents, type EventMatch } from '../match-events';
import { rulesHash } from './domain/webhook-replay';
import { WebhookReplayProgress, type RunningWebhookReplay, type WebhookReplayKey } from './webhook-replay-progress';

/** Events of a step: few, so that locks are held briefly. */
const EVENTS_MAX = 100;
/**
 * A replay adds nothing while its endpoint has so many deliveries waiting. So it takes the pace of the endpoint, and
 * live deliveries of other customers wait for few others.
 */
export const PENDING_MAX = 500;
/** Until the deliveries of the endpoint are counted again. */
const BACKLOG_WAIT_MS = 1_000;
/** The same while the endpoint is disabled. */
const DISABLED_WAIT_MS = 10_000;
/** After so many attempts an event fails whose condition took too long each time. */
const ATTEMPTS_MAX = 5;
const BEFORE_ALL_EVENTS = new Date(0);

/** An event with what the rules say. */
interface MatchedEntry {
  readonly entry: DequeuedEntry;
  /** Undefined: its person was erased. */
  readonly match: EventMatch | undefined;
}

/**
 * One step of a replay, in one transaction: reads the next events, adds their deliveries, writes the progress. Either
 * all of it happens or nothing, so a killed process leaves no event out, and queues none twice.
 */
@Injectable()
export class WebhookReplayStep {
  constructor(
    private readonly serial: SerialConnection,
    private readonly progress: WebhookReplayProgress,
    private readonly windows: EventWindows,
    private readonly dequeued: DequeuedEvents,
    private readonly signal: DeliverySignal,
  ) {}

  run(key: WebhookReplayKey): Promise<StepResult> {
    return this.serial.transaction(key.tenantId, (open) => this.step(open, key));
  }

  /** Ends a replay whose job is given up. */
  giveUp(key: WebhookReplayKey): Promise<void> {
    return this.serial.transaction(key.tenantId, async (open) => {
      await this.progress.lock(open, key);
      this.progress.end(open, key, 'failed', 'gave_up');
    });
  }

  private async step(transaction: Transaction, key: WebhookReplayKey): Promise<StepResult> {
    const replay = await this.progress.lock(transaction, key);
    if (replay === undefined || replay.isOver) return OVER;
    if (replay.startedAt === null) {
      this.progress.start(transaction, key);
      return AGAIN;
    }
    if (rulesHash(replay.rules) !== replay.rulesHash) {
      this.progress.end(transaction, key, 'failed', 'webhook_changed');
      return OVER;
    }
    return replay.phase === 'survey'
      ? this.survey(transaction, replay, replay.startedAt)
      : this.queue(transaction, replay);
  }

  /** Counts the events of the endpoint's types. */
  private async survey(transaction: Transaction, replay: RunningWebhookReplay, startedAt: string): Promise<StepResult> {
    const settled = await this.windows.settledAt(transaction, startedAt);
    if (settled === 'open') return WAIT;
    if (settled === 'set_back') {
      this.progress.start(transaction, replay);
      return AGAIN;
    }
    const { concerned, cursor } = await this.windows.count(transaction, windowOf(replay), replay.receivedTo);
    const total = replay.total + concerned;
    if (cursor === undefined) {
      this.progress.save(transaction, { ...replay, total, phase: 'queue', cursor: startOf(replay) });
    } else this.progress.save(transaction, { ...replay, total, cursor });
    return AGAIN;
  }

  private async queue(transaction: Transaction, replay: RunningWebhookReplay): Promise<StepResult> {
    if (!replay.isEnabled) return { ...WAIT, waitMs: DISABLED_WAIT_MS };
    const room = await this.progress.room(transaction, replay, PENDING_MAX);
    if (room <= 0) return { ...WAIT, waitMs: BACKLOG_WAIT_MS };
    const eventsMax = Math.min(EVENTS_MAX, room);
    const { events, cursorAfter, isLast } = await this.windows.read(transaction, windowOf(replay), eventsMax);
    const { matched, count, attempts } = await this.match(transaction, replay, events);
    const added = await this.add(transaction, replay, matched);
    const isWhole = count === events.length;
    const isDone = isWhole && isLast;
    const counted = { ...addMatched(replay, matched, added), attempts, cursor: cursorAfter(count) };
    const expired = isDone ? Math.max(0, counted.total - counted.scanned) : 0;
    this.progress.save(transaction, { ...counted, expired });
    if (isDone) this.progress.end(transaction, replay, 'done');
    if (isDone) return OVER;
    return { next: isWhole ? 'step' : 'wait', events: count };
  }

  /**
   * `count`: with how many of the events the step is done. It stops before one that is still in the queue: the worker
   * adds its delivery, or this replay does afterwards, in the order of receipt.
   */
  private async match(
    transaction: Transaction,
    replay: RunningWebhookReplay,
    events: readonly DequeuedEvent[],
  ): Promise<{ matched: readonly MatchedEntry[]; count: number; attempts: number }> {
    const held = await this.dequeued.hold(transaction, replay.tenantId, events, replay.scanned);
    const rules = compiledRules(replay);
    const living = held.entries.filter(({ isErased }) => !isErased);
    const matches = await matchEvents(
      living.map(({ toProcess }) => toProcess),
      rules,
    );
    const isOverdue = matches.at(-1)?.mayRetry === true;
    const overdueAttempts = isOverdue ? (matches.length === 1 ? replay.attempts + 1 : 1) : 0;
    const mayRepeat = isOverdue && overdueAttempts < ATTEMPTS_MAX;
    const done = mayRepeat ? matches.slice(0, -1) : matches;
    const next = living[done.length];
    const count = next === undefined ? held.count : events.findIndex(({ eventId }) => eventId === next.eventId);
    const byEntry = new Map(done.map((match, index) => [living[index], match]));
    const before = new Set(events.slice(0, count).map(({ eventId }) => eventId));
    const matched = held.entries
      .filter(({ eventId }) => before.has(eventId))
      .map((entry) => ({ entry, match: byEntry.get(entry) }));
    return { matched, count, attempts: mayRepeat ? overdueAttempts : 0 };
  }

  /** Returns how many deliveries were added; the others are queued already. */
  private async add(
    transaction: Transaction,
    { tenantId, endpointId }: RunningWebhookReplay,
    matched: readonly MatchedEntry[],
  ): Promise<number> {
    const fitting = matched.filter(({ match }) => fits(match));
    if (fitting.length === 0) return 0;
    const added = await transaction.send<{ eventId: string }>(ADD_AGAIN, [
      fitting.map(() => tenantId),
      fitting.map(() => endpointId),
      fitting.map(({ entry }) => entry.profileId),
      fitting.map(({ entry }) => entry.eventId),
    ]);
    transaction.afterCommit(() => this.signal.announce([{ tenantId, endpointId }]));
    return added.length;
  }
}

function fits(match: EventMatch | undefined): boolean {
  return match !== undefined && match.endpointIds.size > 0;
}

/** A rule that cannot be evaluated matters only if no other one fits. */
function addMatched(
  replay: RunningWebhookReplay,
  matched: readonly MatchedEntry[],
  added: number,
): RunningWebhookReplay {
  const fitting = matched.filter(({ match }) => fits(match)).length;
  const failed = matched.filter(({ match }) => !fits(match) && (match?.faults.length ?? 0) > 0).length;
  return {
    ...replay,
    scanned: replay.scanned + matched.length,
    queued: replay.queued + added,
    alreadyQueued: replay.alreadyQueued + fitting - added,
    skipped: replay.skipped + matched.length - fitting - failed,
    failed: replay.failed + failed,
  };
}

/** By `kindName`. They are for events of any time. */
function compiledRules({ tenantId, endpointId, rules }: RunningWebhookReplay): ReadonlyMap<string, RuleToMatch[]> {
  const known = new Map<string, RuleToMatch[]>();
  for (const { eventType, source, condition } of rules) {
    const name = kindName({ tenantId, eventType });
    const rule = {
      endpointId,
      source,
      appliesFrom: BEFORE_ALL_EVENTS,
      condition: condition === null ? undefined : compileCondition(condition),
    };
    known.set(name, [...(known.get(name) ?? []), rule]);
  }
  return known;
}

function windowOf({ tenantId, cursor, receivedTo, rules }: RunningWebhookReplay): EventWindow {
  const eventTypes = [...new Set(rules.map(({ eventType }) => eventType))];
  return { tenantId, cursor, until: receivedTo, eventTypes, source: null };
}

/** Before the first event of the range. */
function startOf({ receivedFrom }: RunningWebhookReplay): EventCursor {
  return { receivedAt: receivedFrom, occurredAt: '-infinity', eventId: NIL_UUID };
}
