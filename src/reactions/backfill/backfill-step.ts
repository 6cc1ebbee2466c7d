import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import {
  COUNTED_MAX,
  EventWindows,
  windowParameters,
  type EventCursor,
  type EventWindow,
} from '../../processing/event-window';
import { AGAIN, OVER, WAIT, type StepResult } from '../../processing/paced-steps';
import { SerialConnection } from '../../processing/serial-connection';
import type { CompiledReaction } from '../domain/react';
import { ReactionCache } from '../reaction-cache';
import { kindName } from '../../ingest/domain/event';
import { BackfillBatch } from './backfill-batch';
import { BackfillMarks } from './backfill-marks';
import { BackfillProgress, type BackfillKey, type RunningBackfill } from './backfill-progress';
import { setsSharedValues, withExpired } from './domain/backfill';
import * as sql from './backfill.sql';
import { NIL_UUID } from '../../platform/values/uuid';

/** Fewer events than a turn of a worker processes, so that locks are held more briefly than by live events. */
export const EVENTS_MAX = 100;

/**
 * One step of a backfill, in one transaction: reads the next events, applies the reaction, writes records and progress.
 * Either all of it happens or nothing, so a killed process leaves no event done twice or left out.
 */
@Injectable()
export class BackfillStep {
  constructor(
    private readonly serial: SerialConnection,
    private readonly progress: BackfillProgress,
    private readonly windows: EventWindows,
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
      const isMore = await this.marks.remove(transaction, key.tenantId, key.id);
      return isMore ? AGAIN : OVER;
    }
    if (backfill.startedAt === null) return this.start(transaction, key);
    const compiled = backfill.isCurrent ? await this.reactionOf(transaction, backfill) : undefined;
    if (compiled === undefined) {
      this.progress.end(transaction, key, { state: 'failed', reason: 'reaction_changed' });
      return AGAIN;
    }
    return backfill.phase === 'survey'
      ? this.survey(transaction, backfill, compiled)
      : this.apply(transaction, backfill, compiled, eventsMax);
  }

  private async start(transaction: Transaction, { tenantId, campaignId, name, id }: BackfillKey): Promise<StepResult> {
    await transaction.send(sql.START, [tenantId, campaignId, name, id]);
    return AGAIN;
  }

  private async reactionOf(transaction: Transaction, backfill: RunningBackfill): Promise<CompiledReaction | undefined> {
    const kind = { tenantId: backfill.tenantId, eventType: backfill.eventType };
    const { rules } = await this.cache.read(transaction, [kind]);
    return rules.get(kindName(kind))?.find(({ reaction }) => reaction.id === backfill.reactionId);
  }

  /** Counts the events, and marks those that the reaction was applied to, of the range and later ones. */
  private async survey(
    transaction: Transaction,
    backfill: RunningBackfill,
    { reaction }: CompiledReaction,
  ): Promise<StepResult> {
    const { id, campaignId, name, receivedTo, startedAt } = backfill;
    if (startedAt === null) return WAIT;
    const settled = await this.windows.settledAt(transaction, startedAt);
    if (settled === 'set_back') return this.start(transaction, backfill);
    if (settled === 'open') return WAIT;
    const window = windowOf(backfill, backfill.tracksLater ? backfill.markedTo : receivedTo);
    const { concerned, cursor } = await this.windows.count(transaction, window, receivedTo);
    if (backfill.tracksLater) {
      const record = JSON.stringify([{ campaignId, name, outcome: 'applied' }]);
      await transaction.send(sql.MARK_WINDOW, [
        ...windowParameters(window, COUNTED_MAX),
        id,
        record,
        setsSharedValues(reaction.ops) ? [NIL_UUID] : [],
      ]);
    }
    const total = backfill.total + concerned;
    if (cursor === undefined) {
      this.progress.save(transaction, { ...backfill, total, phase: 'apply', cursor: startOf(backfill) });
    } else this.progress.save(transaction, { ...backfill, total, cursor });
    return AGAIN;
  }

  private async apply(
    transaction: Transaction,
    backfill: RunningBackfill,
    compiled: CompiledReaction,
    eventsMax: number,
  ): Promise<StepResult> {
    const window = windowOf(backfill, backfill.receivedTo);
    const { events, cursorAfter, isLast } = await this.windows.read(transaction, window, eventsMax);
    const { count, progress } = await this.batch.run(transaction, backfill, compiled, events);
    const isWhole = count === events.length;
    const isExhausted = isWhole && isLast;
    const counts = isExhausted ? withExpired(progress, backfill.total) : progress;
    this.progress.save(transaction, { ...backfill, ...progress, ...counts, cursor: cursorAfter(count) });
    if (isExhausted) this.progress.end(transaction, backfill, { state: 'done', reason: null });
    return { next: isWhole ? 'step' : 'wait', events: count };
  }
}

function windowOf({ tenantId, cursor, eventType, source }: RunningBackfill, until: string): EventWindow {
  return { tenantId, cursor, until, eventTypes: [eventType], source };
}

/** Before the first event of the range. */
function startOf({ receivedFrom }: RunningBackfill): EventCursor {
  return { receivedAt: receivedFrom, occurredAt: '-infinity', eventId: NIL_UUID };
}
