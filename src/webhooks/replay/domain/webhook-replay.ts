import { createHash } from 'node:crypto';
import type { Condition } from '../../../reactions/domain/condition';

/** From the beginning of a range to its end. A longer time takes several replays. */
export const REPLAY_DAYS_MAX = 366;

/** Why a replay ended early: its endpoint has other rules now; or its job was given up. */
export const WEBHOOK_REPLAY_END_REASONS = ['webhook_changed', 'gave_up'] as const;
export type WebhookReplayEndReason = (typeof WEBHOOK_REPLAY_END_REASONS)[number];

/** `survey`: counts the events. */
export type WebhookReplayPhase = 'survey' | 'queue';

/** The events that were looked at: each is queued, was queued already, is skipped or failed. */
export interface WebhookReplayCounts {
  readonly scanned: number;
  /** They are delivered, for the first time or again. */
  readonly queued: number;
  /** They wait for their delivery anyway. */
  readonly alreadyQueued: number;
  /** No rule fits, or their person was erased. */
  readonly skipped: number;
  /** A condition could not be evaluated. */
  readonly failed: number;
  /** They expired after they were counted; not among `scanned`. */
  readonly expired: number;
}

export const NOTHING_REPLAYED: WebhookReplayCounts = {
  scanned: 0,
  queued: 0,
  alreadyQueued: 0,
  skipped: 0,
  failed: 0,
  expired: 0,
};

/** A rule for a type of events. */
export interface ReplayedRule {
  readonly eventType: string;
  readonly source: string | null;
  readonly condition: Condition | null;
}

/** Two endpoints have the same one if their rules are the same, in the same order. */
export function rulesHash(rules: readonly ReplayedRule[]): string {
  const content = rules.map(({ eventType, source, condition }) => [eventType, source, condition]);
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}
