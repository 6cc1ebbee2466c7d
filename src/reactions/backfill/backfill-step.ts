import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { LateEvent } from '../../processing/late-effects';
import { SerialConnection } from '../../processing/serial-connection';
import type { CompiledReaction } from '../domain/react';
import { ReactionCache } from '../reaction-cache';
import { kindName } from '../../processing/domain/event-effects';
import { BackfillBatch } from './backfill-batch';
import { BackfillMarks } from './backfill-marks';
import { BackfillProgress, type BackfillCursor, type BackfillKey, type RunningBackfill } from './backfill-progress';
import { setsSharedValues, withExpired } from './domain/backfill';
import * as sql from './backfill.sql';
import { NIL_UUID } from '../../platform/values/uuid';

/** What the job does after a step: `wait` for the queue or for transactions; `over`: nothing more, also no marks. */
export interface StepResult {
  readonly next: 'step' | 'wait' | 'over';
  /** How many events of the reaction were looked at. */
  readonly events: number;
}

/** Events of any type that a step of the survey looks at: some ten milliseconds. */
const SURVEY_WINDOW = 5_000;
/** The same for a step that applies; it ends earlier after `EVENTS_MAX` events of the reaction. */
const WINDOW = 2_000;
/** As many events as a turn of a worker processes, so that locks are held as briefly. */
export const EVENTS_MAX = 100;
const MARKS_REMOVED_MAX = 1_000;

/**
 * One step of a backfill, in one transaction: reads the next events, applies the reaction, writes records and progress.
 * Either all of it happens or nothing, so a killed process leaves no event done twice or left out.
 */
@Injectable()
export class BackfillStep {
  constructor(
    private readonly serial: SerialConnection,
    private readonly progress: BackfillProgress,
    private readonly batch: BackfillBatch,
    private readonly marks: BackfillMarks,
    private readonly cache: ReactionCache,
  ) {}

  /** `eventsMax`: of the reaction, in this step. */
  run(key: BackfillKey, eventsMax: number): Promise<StepResult> {
    return this.serial.transaction(key.tenantId, (open) => this.step(open, key, Math.min(eventsMax, EVENTS_MAX)));
  }

  /** Ends a backfill whose job is given up. */
  giveUp(key: BackfillKey): Promise<void> {
    return this.serial.transaction(key.tenantId, async (open) => {
      await open.send(sql.LOCK_REACTIONS, [key.tenantId]);
      this.progress.end(open, key, { state: 'failed', reason: 'gave_up' });
    });
  }

  private async step(transaction: Transaction, key: BackfillKey, eventsMax: number): Promise<StepResult> {
    const backfill = await this.progress.lock(transaction, key);
    if (backfill === undefined) return OVER;
    if (backfill.isOver) {
      const isMore = await this.marks.remove(transaction, key.tenantId, key.id, MARKS_REMOVED_MAX);
      return isMore ? AGAIN : OVER;
    }
    if (backfill.startedAt === null) {
      await transaction.send(sql.START, [key.tenantId, key.campaignId, key.name, key.id]);
      return AGAIN;
    }
    const compiled = backfill.isCurrent ? await this.reactionOf(transaction, backfill) : undefined;
    if (compiled === undefined) {
      this.progress.end(transaction, key, { state: 'failed', reason: 'reaction_changed' });
      return AGAIN;
    }
    return backfill.phase === 'survey'
      ? this.survey(transaction, backfill, compiled)
      : this.apply(transaction, backfill, compiled, eventsMax);
  }

  private async reactionOf(transaction: Transaction, backfill: RunningBackfill): Promise<CompiledReaction | undefined> {
    const kind = { tenantId: backfill.tenantId, eventType: backfill.eventType };
    const known = await this.cache.read(transaction, [kind]);
    return known.get(kindName(kind))?.find(({ reaction }) => reaction.id === backfill.reactionId);
  }

  /** Counts the events, and marks those that the reaction was applied to, of the range and later ones. */
  private async survey(
    transaction: Transaction,
    backfill: RunningBackfill,
    { reaction }: CompiledReaction,
  ): Promise<StepResult> {
    const { id, campaignId, name, receivedTo } = backfill;
    if (!(await this.isSettled(transaction, backfill))) return WAIT;
    const until = backfill.tracksLater ? backfill.markedTo : receivedTo;
    const window = [...windowOf(backfill, until), SURVEY_WINDOW, backfill.eventType, backfill.source];
    const [last] = await transaction.send<SurveyRow>(sql.COUNT_WINDOW, [...window, receivedTo]);
    if (backfill.tracksLater) {
      const record = JSON.stringify([{ campaignId, name, outcome: 'applied' }]);
      await transaction.send(sql.MARK_WINDOW, [
        ...window,
        id,
        record,
        setsSharedValues(reaction.ops) ? [NIL_UUID] : [],
      ]);
    }
    const total = backfill.total + (last?.concerned ?? 0);
    if (last === undefined || last.looked < SURVEY_WINDOW) {
      this.progress.save(transaction, { ...backfill, total, phase: 'apply', cursor: startOf(backfill) });
    } else this.progress.save(transaction, { ...backfill, total, cursor: cursorOf(last) });
    return AGAIN;
  }

  private async apply(
    transaction: Transaction,
    backfill: RunningBackfill,
    compiled: CompiledReaction,
    eventsMax: number,
  ): Promise<StepResult> {
    const rows = await transaction.send<WindowRow>(sql.READ_WINDOW, [
      ...windowOf(backfill, backfill.receivedTo),
      WINDOW,
      backfill.eventType,
      backfill.source,
      eventsMax,
    ]);
    const events = rows.filter(({ concerned }) => concerned).map(lateEventOf);
    const { count, progress } = await this.batch.run(transaction, backfill, compiled, events);
    const isWhole = count === events.length;
    const lastId = events[count - 1]?.eventId;
    const last = isWhole ? rows.at(-1) : rows.find((row) => row.event_id === lastId);
    const cursor = last === undefined ? backfill.cursor : cursorOf(last);
    const isExhausted = isWhole && rows.length < eventsMax && last?.is_end !== true;
    const counts = isExhausted ? withExpired(progress, backfill.total) : progress;
    this.progress.save(transaction, { ...backfill, ...progress, ...counts, cursor });
    if (isExhausted) this.progress.end(transaction, backfill, { state: 'done', reason: null });
    return { next: isWhole ? 'step' : 'wait', events: count };
  }

  private async isSettled(transaction: Transaction, { startedAt }: RunningBackfill): Promise<boolean> {
    const [row] = await transaction.send<{ is_settled: boolean }>(sql.IS_SETTLED, [startedAt]);
    return row?.is_settled === true;
  }
}

const AGAIN: StepResult = { next: 'step', events: 0 };
const WAIT: StepResult = { next: 'wait', events: 0 };
const OVER: StepResult = { next: 'over', events: 0 };

interface KeyRow {
  readonly event_id: string;
  readonly received_at: string;
  readonly occurred_at: string;
}

interface WindowRow extends KeyRow {
  readonly concerned: boolean;
  readonly is_bundled: boolean;
  /** The window has no further event. */
  readonly is_end: boolean;
}

interface SurveyRow extends KeyRow {
  readonly looked: number;
  readonly concerned: number;
}

/** The first parameters of a window. */
function windowOf({ tenantId, cursor }: RunningBackfill, until: string): unknown[] {
  return [tenantId, cursor.receivedAt, cursor.occurredAt, cursor.eventId, until];
}

function cursorOf({ event_id: eventId, received_at: receivedAt, occurred_at: occurredAt }: KeyRow): BackfillCursor {
  return { receivedAt, occurredAt, eventId };
}

/** Before the first event of the range. */
function startOf({ receivedFrom }: RunningBackfill): BackfillCursor {
  return { receivedAt: receivedFrom, occurredAt: '-infinity', eventId: NIL_UUID };
}

function lateEventOf({ event_id: eventId, is_bundled: isBundled }: WindowRow): LateEvent {
  return { eventId, isBundled };
}
