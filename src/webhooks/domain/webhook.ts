import type { Condition } from '../../reactions/domain/condition';
import type { VariableScope } from '../../variables/domain/variable';

/** Endpoints of a workspace, disabled ones included. Each may have connections of its own. */
export const ENDPOINTS_PER_WORKSPACE_MAX = 50;
/** Rules of one endpoint. */
export const RULES_PER_ENDPOINT_MAX = 50;
/** Rules of all endpoints of a workspace for one type: each is evaluated for every event of the type. */
export const RULES_PER_EVENT_TYPE_MAX = 50;
/**
 * A new rule for changes applies after so long: by then every node has seen it (`InvalidationFeed`), so that none stores
 * a change without it.
 */
export const CHANGE_RULE_DELAY_MS = 1_000;
export const DESCRIPTION_CHARACTERS_MAX = 1_000;
/** For a whole attempt: DNS, connecting, TLS, and the answer (contract section 15). */
export const ATTEMPT_MS_MAX = 15_000;
/** During a rotation, calls are signed with the old secret as well for so long. */
export const ROTATION_HOURS = 24;
/** An endpoint whose every attempt failed for so long is disabled (contract section 15). */
export const FAILING_DAYS_MAX = 5;

/** By the identifiers of Standard Webhooks: `v1` and `v1a`. */
export const WEBHOOK_ALGORITHMS = ['hmac-sha256', 'ed25519'] as const;
export type WebhookAlgorithm = (typeof WEBHOOK_ALGORITHMS)[number];

/** Disables the endpoint that answers it. */
export const GONE_STATUS = 410;
/** `manual`: by a request. `gone`: the endpoint answered 410. `failing`: every attempt failed for five days. */
export const DISABLED_REASONS = ['manual', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export const DELIVERY_KINDS = ['event', 'change'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

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

/** Why a delivery ended without success. `change_expired`: it waited for 90 days. */
export const FAILURE_REASONS = ['attempts_used_up', 'event_gone', 'profile_erased', 'change_expired'] as const;
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

/** Events of a type that an endpoint gets. */
export interface EventRule {
  readonly eventType: string;
  /** Null: of any source. */
  readonly source: string | null;
  /** Null: all of them. */
  readonly condition: Condition | null;
}

/** The variable whose changes an endpoint gets. */
export interface SubscribedVariable {
  readonly scope: VariableScope;
  readonly name: string;
  /** Null: in all campaigns. Values of an app belong to no campaign. */
  readonly campaignId: string | null;
}

/** Changes of a variable that an endpoint gets. */
export interface ChangeRule {
  readonly change: SubscribedVariable;
}

/** What an endpoint gets. */
export type WebhookRule = EventRule | ChangeRule;

/** A rule that is in force. */
export type StoredRule = WebhookRule & {
  /** Events received earlier, and earlier changes, are ignored. */
  readonly appliesFrom: Date;
};

/**
 * The rules of a changed endpoint: those that were there before keep their time. A new rule for changes applies later
 * than one for events (`CHANGE_RULE_DELAY_MS`).
 */
export function mergeRules(before: readonly StoredRule[], rules: readonly WebhookRule[], now: Date): StoredRule[] {
  const later = new Date(now.getTime() + CHANGE_RULE_DELAY_MS);
  return rules.map((rule) => {
    const content = contentOf(rule);
    const same = before.find((each) => contentOf(each) === content);
    return { ...rule, appliesFrom: same?.appliesFrom ?? (isChangeRule(rule) ? later : now) };
  });
}

/** When a rule for changes is among these that was not there before. */
export function addsChangeRule(before: readonly StoredRule[], rules: readonly WebhookRule[]): boolean {
  const known = new Set(before.map(contentOf));
  return rules.some((rule) => isChangeRule(rule) && !known.has(contentOf(rule)));
}

export function isChangeRule(rule: WebhookRule): rule is ChangeRule {
  return 'change' in rule;
}

function contentOf(rule: WebhookRule): string {
  if (!isChangeRule(rule)) return JSON.stringify([rule.eventType, rule.source, rule.condition]);
  const { scope, name, campaignId } = rule.change;
  return JSON.stringify(['change', scope, name, campaignId]);
}
