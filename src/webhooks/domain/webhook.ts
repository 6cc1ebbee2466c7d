import type { Condition } from '../../reactions/domain/condition';

/** Endpoints of a workspace, disabled ones included. Each may have connections of its own. */
export const ENDPOINTS_PER_WORKSPACE_MAX = 50;
/** Rules of one endpoint. */
export const RULES_PER_ENDPOINT_MAX = 50;
/** Rules of all endpoints of a workspace for one type: each is evaluated for every event of the type. */
export const RULES_PER_EVENT_TYPE_MAX = 50;
export const DESCRIPTION_CHARACTERS_MAX = 1_000;
/** During a rotation, calls are signed with the old secret as well for so long. */
export const ROTATION_HOURS = 24;
/** An endpoint whose every attempt failed for so long is disabled (contract section 15). */
export const FAILING_DAYS_MAX = 5;

/** By the identifiers of Standard Webhooks: `v1` and `v1a`. */
export const WEBHOOK_ALGORITHMS = ['hmac-sha256', 'ed25519'] as const;
export type WebhookAlgorithm = (typeof WEBHOOK_ALGORITHMS)[number];

/** `manual`: by a request. `gone`: the endpoint answered 410. `failing`: every attempt failed for five days. */
export const DISABLED_REASONS = ['manual', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** `pending`: before the last attempt. `failed`: it will not be sent, unless somebody asks for it. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The result of one attempt. */
export const ATTEMPT_OUTCOMES = [
  'delivered',
  'refused_status',
  'timed_out',
  'address_refused',
  'not_resolved',
  'not_connected',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Why a delivery ended without success. */
export const FAILURE_REASONS = ['attempts_used_up', 'event_gone', 'profile_erased'] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** One attempt, as it is stored and shown. */
export interface Attempt {
  readonly at: string;
  readonly outcome: AttemptOutcome;
  /** Null: there was no answer. */
  readonly status: number | null;
  /** The first 1,000 characters. */
  readonly answer: string;
  readonly durationMs: number;
}

/** Which events an endpoint gets. */
export interface WebhookRule {
  readonly eventType: string;
  /** Null: of any source. */
  readonly source: string | null;
  /** Null: all of them. */
  readonly condition: Condition | null;
}

/** A rule that is in force. */
export interface StoredRule extends WebhookRule {
  /** Events received earlier are ignored. */
  readonly appliesFrom: Date;
}

/** The rules of a changed endpoint: those that were there before keep their time. */
export function mergeRules(before: readonly StoredRule[], rules: readonly WebhookRule[], now: Date): StoredRule[] {
  return rules.map(({ eventType, source, condition }) => {
    const same = before.find((each) => contentOf(each) === contentOf({ eventType, source, condition }));
    return { eventType, source, condition, appliesFrom: same?.appliesFrom ?? now };
  });
}

function contentOf({ eventType, source, condition }: WebhookRule): string {
  return JSON.stringify([eventType, source, condition]);
}
