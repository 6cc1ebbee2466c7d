import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, LessThan, Not, type EntityManager } from 'typeorm';
import { cursorAfterId } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { isUuid } from '../platform/values/uuid';
import type { KeyedRecords } from '../platform/secrets/secrets-key-check';
import { newRulesVersion } from '../processing/rule-cache';
import { isChangeRule, type StoredRule } from './domain/webhook';
import { WebhookEndpoint } from './entities/webhook-endpoint.entity';
import { WebhookRuleRow } from './entities/webhook-rule.entity';

/** An endpoint with its rules, in their order. */
export interface Webhook {
  readonly endpoint: WebhookEndpoint;
  readonly rules: readonly StoredRule[];
}

/** A rule with its endpoint. */
type RuleOfEndpoint = StoredRule & { readonly endpointId: string };

/**
 * An endpoint may have 50 rules, each with a condition of 8 KiB. $1 is the workspace, the first of the scope: Citus refuses
 * `r.tenant_id` there.
 */
const LISTED_WEBHOOKS: LargeRows = {
  table: 'webhook_endpoints',
  scope: ['tenant_id'],
  id: 'id',
  idType: 'uuid',
  bytes: `1024 + octet_length(r.url) + coalesce(octet_length(r.description), 0) + (
    SELECT coalesce(sum(64 + octet_length(
      concat(u.event_type, u.source, u.condition, u.change_scope, u.change_name, u.change_campaign_id)
    )), 0)
    FROM webhook_rules u WHERE u.tenant_id = $1 AND u.endpoint_id = r.id
  )`,
};

/** The tables of endpoints and their rules. Every change of rules locks the workspace's row first (`lockSet`). */
@Injectable()
export class WebhookRepository {
  constructor(private readonly database: DataSource) {}

  /**
   * Changes the version of the workspace's rules, which invalidates the caches of all nodes. Other changes of the
   * workspace wait until this transaction ends.
   */
  async lockSet(manager: EntityManager, tenantId: string): Promise<void> {
    await manager.query(
      `INSERT INTO webhook_sets (tenant_id, version) VALUES ($1, $2)
       ON CONFLICT ON CONSTRAINT webhook_sets_pkey DO UPDATE SET version = excluded.version`,
      [tenantId, newRulesVersion()],
    );
  }

  async find(tenantId: string, id: string, manager = this.database.manager): Promise<Webhook | undefined> {
    const endpoint = await manager.findOneBy(WebhookEndpoint, { tenantId, id });
    if (endpoint === null) return undefined;
    return { endpoint, rules: await this.rulesOf(manager, tenantId, [id]) };
  }

  /** Nobody changes an endpoint until the transaction ends. */
  async lock(manager: EntityManager, tenantId: string, id: string): Promise<void> {
    if (!isUuid(id)) return;
    await manager.query('SELECT 1 FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [tenantId, id]);
  }

  /** One page of endpoints with ids below `start`, newest first; a shorter one if their rules are large. */
  async list(tenantId: string, start: string, limit: number): Promise<Page<Webhook>> {
    const { manager } = this.database;
    const found = await manager.find(WebhookEndpoint, {
      select: { tenantId: true, id: true },
      where: { tenantId, id: LessThan(start) },
      order: { id: 'DESC' },
      // One more than the page shows that there is a next one.
      take: limit + 1,
    });
    const page = await pageThatFits(this.database, LISTED_WEBHOOKS, [tenantId], {
      found,
      limit,
      nameOf: ({ id }: WebhookEndpoint) => id,
      cursorAfter: ({ id }) => cursorAfterId(id),
    });
    const where = { tenantId, id: In(page.rows.map(({ id }) => id)) };
    const endpoints = await manager.find(WebhookEndpoint, { where, order: { id: 'DESC' } });
    return { ...page, rows: await this.withRules(manager, tenantId, endpoints) };
  }

  /** All endpoints of a workspace with their rules, oldest first. `locks`: nobody changes them until the transaction ends. */
  async all(manager: EntityManager, tenantId: string, { locks }: { readonly locks: boolean }): Promise<Webhook[]> {
    const lock = locks ? { lock: { mode: 'pessimistic_write' } as const } : {};
    const endpoints = await manager.find(WebhookEndpoint, { where: { tenantId }, order: { id: 'ASC' }, ...lock });
    return this.withRules(manager, tenantId, endpoints);
  }

  private async withRules(
    manager: EntityManager,
    tenantId: string,
    endpoints: readonly WebhookEndpoint[],
  ): Promise<Webhook[]> {
    const ids = endpoints.map(({ id }) => id);
    const rules = await this.rulesOf(manager, tenantId, ids);
    return endpoints.map((endpoint) => {
      return { endpoint, rules: rules.filter(({ endpointId }) => endpointId === endpoint.id) };
    });
  }

  /** By endpoint, in their order. */
  private async rulesOf(
    manager: EntityManager,
    tenantId: string,
    endpointIds: readonly string[],
  ): Promise<RuleOfEndpoint[]> {
    const rows = await manager.find(WebhookRuleRow, {
      where: { tenantId, endpointId: In([...endpointIds]) },
      order: { endpointId: 'ASC', position: 'ASC' },
    });
    return rows.map(ruleIn);
  }

  /** The rules for changes of all endpoints of a workspace. */
  async changeRules(tenantId: string): Promise<RuleOfEndpoint[]> {
    const rows = await this.database.manager.findBy(WebhookRuleRow, { tenantId, changeName: Not(IsNull()) });
    return rows.map(ruleIn);
  }

  count(manager: EntityManager, tenantId: string): Promise<number> {
    return manager.countBy(WebhookEndpoint, { tenantId });
  }

  /** Rules of other endpoints for these types, by type. */
  async countRules(
    manager: EntityManager,
    tenantId: string,
    eventTypes: readonly string[],
    exceptEndpointId: string,
  ): Promise<ReadonlyMap<string, number>> {
    const rows: { event_type: string; count: number }[] = await manager.query(
      `SELECT event_type, count(*)::int AS count FROM webhook_rules
       WHERE tenant_id = $1 AND event_type = ANY($2) AND applies_from > '-infinity' AND endpoint_id <> $3
       GROUP BY event_type`,
      [tenantId, eventTypes, exceptEndpointId],
    );
    return new Map(rows.map((row) => [row.event_type, row.count]));
  }

  async insert(manager: EntityManager, { endpoint, rules }: Webhook): Promise<void> {
    await manager.insert(WebhookEndpoint, endpoint);
    await this.insertRules(manager, endpoint, rules);
  }

  async update(
    manager: EntityManager,
    { tenantId, id }: Pick<WebhookEndpoint, 'tenantId' | 'id'>,
    changes: Partial<Omit<WebhookEndpoint, 'tenantId' | 'id'>>,
  ): Promise<void> {
    await manager.update(WebhookEndpoint, { tenantId, id }, changes);
  }

  async replaceRules(
    manager: EntityManager,
    endpoint: Pick<WebhookEndpoint, 'tenantId' | 'id'>,
    rules: readonly StoredRule[],
  ): Promise<void> {
    await manager.delete(WebhookRuleRow, { tenantId: endpoint.tenantId, endpointId: endpoint.id });
    await this.insertRules(manager, endpoint, rules);
  }

  /** Deletes an endpoint and its rules. Its deliveries are removed afterwards, in steps. */
  async delete(manager: EntityManager, tenantId: string, id: string): Promise<void> {
    await manager.delete(WebhookRuleRow, { tenantId, endpointId: id });
    await manager.delete(WebhookEndpoint, { tenantId, id });
  }

  private async insertRules(
    manager: EntityManager,
    { tenantId, id: endpointId }: Pick<WebhookEndpoint, 'tenantId' | 'id'>,
    rules: readonly StoredRule[],
  ): Promise<void> {
    const rows = rules.map((rule, position) => ({ tenantId, endpointId, position, ...columnsOf(rule) }));
    // TypeORM's type of a JSON column refuses unknown members.
    await manager.insert(WebhookRuleRow, rows as never);
  }
}

function columnsOf(rule: StoredRule): Omit<WebhookRuleRow, 'tenantId' | 'endpointId' | 'position'> {
  const { appliesFrom } = rule;
  if (!isChangeRule(rule)) {
    const { eventType, source, condition } = rule;
    return { eventType, source, condition, ...NO_CHANGE, appliesFrom };
  }
  const { scope: changeScope, name: changeName, campaignId: changeCampaignId } = rule.change;
  return { eventType: null, source: null, condition: null, changeScope, changeName, changeCampaignId, appliesFrom };
}

const NO_CHANGE = { changeScope: null, changeName: null, changeCampaignId: null } as const;

function ruleIn({ endpointId, eventType, source, condition, appliesFrom, ...row }: WebhookRuleRow): RuleOfEndpoint {
  if (eventType !== null) return { endpointId, eventType, source, condition, appliesFrom };
  const { changeScope: scope, changeName: name, changeCampaignId: campaignId } = row;
  if (scope === null || name === null) throw new Error('A rule is for neither events nor changes');
  return { endpointId, change: { scope, name, campaignId }, appliesFrom };
}

/** Secrets of endpoints, for the check of SECRETS_KEY. */
export const SEALED_WEBHOOKS: KeyedRecords = {
  loss: 'secrets of webhooks: their deliveries wait; rotate each secret and give the new one to the receiver',
  count: { name: 'sealed_webhooks_count', text: 'SELECT count(*)::int AS count FROM webhook_endpoints' },
  sample: {
    name: 'sealed_webhooks_sample',
    text: `SELECT tenant_id, id, secret AS sealed FROM webhook_endpoints ORDER BY created_at DESC LIMIT 20`,
  },
};
