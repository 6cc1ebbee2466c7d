import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { grants } from '../platform/auth/scopes';
import { scopeMissing } from '../platform/errors/challenges';
import { InvalidatingCache } from '../platform/invalidation/invalidating-cache';
import { InvalidationFeed, type InvalidationSubject } from '../platform/invalidation/invalidation-feed';
import { Clock } from '../platform/values/clock';
import type { ValueChange } from '../runtime/domain/value-change';
import type { VariableScope } from '../variables/domain/variable';
import { isChangeRule, type WebhookRule } from './domain/webhook';
import { WebhookRepository } from './webhook.repository';

/** Workspaces whose rules one process caches. Most have none; 2,500 rules, the most, take a megabyte. */
const CACHED_WORKSPACES_MAX = 1_000;

interface RuleForVariable {
  readonly endpointId: string;
  readonly campaignId: string | null;
  readonly appliesFromMs: number;
}

/** The rules of a workspace for changes. */
export class ChangeRules {
  constructor(private readonly byVariable: ReadonlyMap<string, readonly RuleForVariable[]>) {}

  get isEmpty(): boolean {
    return this.byVariable.size === 0;
  }

  /** The endpoints that get a change, by the rules that are in force at its moment; none more than once. */
  endpointsFor({ key: { scope, ownerId, name }, atMicros }: ValueChange): readonly string[] {
    const atMs = Math.floor(atMicros / 1_000);
    const rules = this.byVariable.get(variableKey(scope, name)) ?? [];
    const fitting = rules.filter(({ campaignId, appliesFromMs }) => {
      return atMs >= appliesFromMs && (campaignId === null || campaignId === ownerId);
    });
    return [...new Set(fitting.map(({ endpointId }) => endpointId))];
  }
}

/**
 * The rules for changes, cached without a query for each mutation. A node knows of every rule at most a second after it
 * was committed, which is when the rule begins to apply (docs/adr/0075).
 */
@Injectable()
export class ChangeRulesCache {
  private readonly cache: InvalidatingCache<ChangeRules>;

  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly feed: InvalidationFeed,
    clock: Clock,
  ) {
    this.cache = new InvalidatingCache(feed, clock, CACHED_WORKSPACES_MAX);
  }

  /** The rules of a workspace, if they are cached and in force. */
  recall(tenantId: string): ChangeRules | undefined {
    return this.cache.recall(tenantId);
  }

  /**
   * Reads and caches the rules of workspaces. The read begins now: one that began earlier, for another caller, might not
   * have seen a rule that applies to the caller's changes.
   */
  read(tenantIds: readonly string[]): Promise<readonly (readonly [string, ChangeRules])[]> {
    return this.cache.learnAll(async () => {
      const found = await Promise.all(tenantIds.map((tenantId) => this.rulesOf(tenantId)));
      return new Map(
        found.map((value, index) => {
          const tenantId = tenantIds[index] ?? '';
          return [tenantId, { value, subject: subjectOf(tenantId) }];
        }),
      );
    });
  }

  /** Tells all nodes, in the transaction that changes rules for changes. */
  announce(manager: EntityManager, tenantId: string): Promise<void> {
    return this.feed.announce(manager, subjectOf(tenantId));
  }

  /** Behind the commit: in force on this node at once. */
  forget(tenantId: string): void {
    this.feed.forget(subjectOf(tenantId));
  }

  private async rulesOf(tenantId: string): Promise<ChangeRules> {
    const byVariable = new Map<string, RuleForVariable[]>();
    for (const rule of await this.webhooks.changeRules(tenantId)) {
      if (!isChangeRule(rule)) continue;
      const { scope, name, campaignId } = rule.change;
      const key = variableKey(scope, name);
      const known = byVariable.get(key) ?? [];
      known.push({ endpointId: rule.endpointId, campaignId, appliesFromMs: rule.appliesFrom.getTime() });
      byVariable.set(key, known);
    }
    return new ChangeRules(byVariable);
  }
}

/** Throws `insufficient_scope`: changes show what `state:read` shows. */
export function assertMayGetChanges({ scopes }: Principal, rules: readonly WebhookRule[]): void {
  if (!rules.some(isChangeRule) || grants(scopes, 'state:read')) return;
  const message =
    'A webhook for changes shows values of participants, which requires the scope state:read. The credential lacks it: ' +
    'use one that has it, or leave change out.';
  throw scopeMissing('state:read', message);
}

function variableKey(scope: VariableScope, name: string): string {
  return `${scope}/${name}`;
}

function subjectOf(tenantId: string): InvalidationSubject {
  return { tenantId, kind: 'webhook_changes', id: 'all' };
}
