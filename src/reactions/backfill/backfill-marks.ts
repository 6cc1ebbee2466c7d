import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import type { LoggedEvent } from '../../ingest/domain/event';
import type { ReactionRule } from '../domain/reaction';
import { setsSharedValues, type LaterSets } from './domain/backfill';
import * as sql from './backfill.sql';

/** An event that a reaction was applied to. */
export interface AppliedEvent {
  readonly tenantId: string;
  readonly event: LoggedEvent;
  readonly reaction: ReactionRule;
}

/** An event whose reaction a backfill applies, with all profiles of its customer. */
export interface BackfilledEvent {
  readonly eventId: string;
  readonly profileIds: readonly string[];
}

/** Of one transaction. */
export const MARKS_REMOVED_MAX = 1_000;
/** Stands for the values of the campaign and the app. */
const SHARED = NIL_UUID;

/**
 * While a backfill runs whose reaction sets values, the last event that each customer's values were set by. So an
 * earlier event never overwrites what a later one has set (docs/adr/0066).
 */
@Injectable()
export class BackfillMarks {
  /** Marks what workers have applied, along with COMMIT; nothing for reactions without such a backfill. */
  add(transaction: Transaction, applied: readonly AppliedEvent[]): void {
    const marks = applied.flatMap(({ tenantId, event, reaction: { backfillId, ops } }) => {
      if (backfillId === null) return [];
      const { eventId, profileId, receivedAt, occurredAt } = event;
      const mark = { tenantId, backfillId, profileId, receivedAt, occurredAt, eventId };
      return setsSharedValues(ops) ? [mark, { ...mark, profileId: SHARED }] : [mark];
    });
    if (marks.length === 0) return;
    const last = new Map<string, (typeof marks)[number]>();
    for (const mark of marks) {
      const key = `${mark.profileId}/${mark.tenantId}/${mark.backfillId}`;
      const known = last.get(key);
      if (known === undefined || isLater(mark, known)) last.set(key, mark);
    }
    // In one order, to prevent deadlocks; each row once, as the statement requires.
    const rows = [...last].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, mark]) => mark);
    transaction.sendLast(sql.MARK, [
      rows.map(({ tenantId }) => tenantId),
      rows.map(({ backfillId }) => backfillId),
      rows.map(({ profileId }) => profileId),
      rows.map(({ receivedAt }) => receivedAt),
      rows.map(({ occurredAt }) => occurredAt),
      rows.map(({ eventId }) => eventId),
    ]);
  }

  /** For each event, which values a later one has set. */
  async laterThan(
    transaction: Transaction,
    { tenantId, id }: { readonly tenantId: string; readonly id: string },
    events: readonly BackfilledEvent[],
  ): Promise<readonly LaterSets[]> {
    const pairs = events.flatMap(({ eventId, profileIds }, position) =>
      [SHARED, ...profileIds].map((profileId) => ({ position, profileId, eventId })),
    );
    const rows = await transaction.send<{ position: number; profile_id: string }>(sql.FIND_LATER, [
      tenantId,
      id,
      pairs.map(({ position }) => position),
      pairs.map(({ profileId }) => profileId),
      pairs.map(({ eventId }) => eventId),
    ]);
    return events.map((_event, index) => {
      const own = rows.filter(({ position }) => position === index);
      return {
        shared: own.some((row) => row.profile_id === SHARED),
        user: own.some((row) => row.profile_id !== SHARED),
      };
    });
  }

  /** Removes some marks of a backfill that is over; returns whether there may be more. */
  async remove(transaction: Transaction, tenantId: string, backfillId: string): Promise<boolean> {
    const removed = await transaction.send(sql.REMOVE_MARKS, [tenantId, backfillId, MARKS_REMOVED_MAX]);
    return removed.length === MARKS_REMOVED_MAX;
  }
}

interface Mark {
  readonly receivedAt: Date;
  readonly occurredAt: Date;
  readonly eventId: string;
}

function isLater(a: Mark, b: Mark): boolean {
  const order = a.receivedAt.getTime() - b.receivedAt.getTime() || a.occurredAt.getTime() - b.occurredAt.getTime();
  return order === 0 ? a.eventId > b.eventId : order > 0;
}
