import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { EventCursor } from '../../processing/event-window';
import type { WorkState } from '../../platform/jobs/work-states';
import type {
  ReplayedRule,
  WebhookReplayCounts,
  WebhookReplayEndReason,
  WebhookReplayPhase,
} from './domain/webhook-replay';
import * as sql from './webhook-replay.sql';

/** What finds a replay. */
export interface WebhookReplayKey {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly id: string;
}

/** A replay whose row is locked; times as text. */
export interface RunningWebhookReplay extends WebhookReplayKey, WebhookReplayCounts {
  readonly rulesHash: string;
  readonly receivedFrom: string;
  readonly receivedTo: string;
  /** Null before its first step. */
  readonly startedAt: string | null;
  readonly phase: WebhookReplayPhase;
  readonly attempts: number;
  readonly total: number;
  readonly cursor: EventCursor;
  readonly isOver: boolean;
  /** Whether its endpoint is. */
  readonly isEnabled: boolean;
  /** Those for events that its endpoint has now. */
  readonly rules: readonly ReplayedRule[];
}

type ReplayRow = Omit<RunningWebhookReplay, keyof WebhookReplayKey | 'cursor' | 'isOver' | 'rules'> & {
  readonly state: WorkState;
  readonly cursorReceivedAt: string;
  readonly cursorOccurredAt: string;
  readonly cursorEventId: string;
};

/** The progress of a replay, read and written in the transaction of a step. */
@Injectable()
export class WebhookReplayProgress {
  /** Undefined: there is no such replay any more. */
  async lock(transaction: Transaction, key: WebhookReplayKey): Promise<RunningWebhookReplay | undefined> {
    const { tenantId, endpointId, id } = key;
    const [[row], rules] = await Promise.all([
      transaction.send<ReplayRow>(sql.LOCK_REPLAY, [tenantId, endpointId, id]),
      transaction.send<ReplayedRule>(sql.READ_RULES_OF_ENDPOINT, [tenantId, endpointId]),
    ]);
    if (row === undefined) return undefined;
    const { state, cursorReceivedAt, cursorOccurredAt, cursorEventId, ...rest } = row;
    return {
      ...key,
      ...rest,
      cursor: { receivedAt: cursorReceivedAt, occurredAt: cursorOccurredAt, eventId: cursorEventId },
      isOver: state !== 'queued' && state !== 'running',
      rules,
    };
  }

  start(transaction: Transaction, { tenantId, endpointId, id }: WebhookReplayKey): void {
    transaction.sendLast(sql.START_REPLAY, [tenantId, endpointId, id]);
  }

  /** Along with COMMIT. */
  save(transaction: Transaction, replay: RunningWebhookReplay): void {
    const { tenantId, endpointId, id, phase, attempts, total, cursor } = replay;
    const { scanned, queued, alreadyQueued, skipped, failed, expired } = replay;
    transaction.sendLast(sql.SAVE_REPLAY, [
      ...[tenantId, endpointId, id, phase, attempts, total],
      ...[scanned, queued, alreadyQueued, skipped, failed, expired],
      ...[cursor.receivedAt, cursor.occurredAt, cursor.eventId],
    ]);
  }

  /** Along with COMMIT. */
  end(
    transaction: Transaction,
    { tenantId, endpointId, id }: WebhookReplayKey,
    state: Extract<WorkState, 'done' | 'failed'>,
    reason: WebhookReplayEndReason | null = null,
  ): void {
    transaction.sendLast(sql.END_REPLAY, [tenantId, endpointId, id, state, reason]);
  }

  /** How many more deliveries the endpoint may have waiting. */
  async room(
    transaction: Transaction,
    { tenantId, endpointId }: WebhookReplayKey,
    pendingMax: number,
  ): Promise<number> {
    const values = [tenantId, endpointId, pendingMax];
    const [row] = await transaction.send<{ pending: number }>(sql.COUNT_PENDING, values);
    return pendingMax - (row?.pending ?? 0);
  }
}
