import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import { DomainError } from '../platform/errors/domain-error';
import { idPage } from '../platform/pagination/id-key';
import type { Page } from '../platform/pagination/page';
import { nextMillisecond } from '../platform/postgres/next-millisecond';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import { SecretBox } from '../platform/secrets/secret-box';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { ChangeRulesCache } from './change-rules';
import { DeliveryUpkeep } from './delivery/delivery-upkeep';
import { makeSecret } from './domain/standard-webhooks';
import {
  addsChangeRule,
  CHANGE_RULE_DELAY_MS,
  isChangeRule,
  mergeRules,
  ROTATION_HOURS,
  type StoredRule,
  type WebhookRule,
} from './domain/webhook';
import { ChangeWebhookDto, CreateWebhookDto, type WebhookRuleDto } from './dto/webhook.dto';
import { EndpointChecks } from './endpoint-checks';
import { WebhookDefinitionCheck } from './webhook-definition-check';
import { WebhookRepository, type Webhook } from './webhook.repository';

const HOUR_MS = 60 * 60 * 1_000;

/** An endpoint with the text that its receiver verifies signatures with. */
export interface IssuedWebhook extends Webhook {
  readonly shownSecret: string;
}

/** What `changeAll` does. Bodies are those of `create` and `patch`. */
export interface WebhookChanges {
  readonly created: readonly { readonly body: unknown; readonly enabled: boolean }[];
  /** `body` undefined: only `enabled` changes. */
  readonly changed: readonly { readonly id: string; readonly body?: unknown; readonly enabled?: boolean }[];
}

/** A request for a new endpoint that was checked. */
interface NewWebhook {
  readonly request: CreateWebhookDto;
  readonly rules: readonly WebhookRule[];
}

type ReplaceRules = (before: readonly StoredRule[], rules: readonly WebhookRule[]) => void;

/** Manages the endpoints of a workspace (contract section 15). */
@Injectable()
export class WebhooksService {
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhookRepository,
    private readonly definitions: WebhookDefinitionCheck,
    private readonly checks: EndpointChecks,
    private readonly upkeep: DeliveryUpkeep,
    private readonly changes: ChangeRulesCache,
    private readonly box: SecretBox,
    private readonly clock: Clock,
  ) {
    this.mutex = new KeyedMutex(clock);
  }

  /**
   * Creates an endpoint; it gets events that are received from now on. Throws `validation_failed` with every fault, and
   * `insufficient_scope` if it would show or read personal data that the caller may not see.
   */
  async create(caller: Principal, body: unknown): Promise<IssuedWebhook> {
    const checked = await this.checkNew(caller, body);
    return this.changeRules(caller.tenantId, (manager, replace) => this.insert(manager, caller, checked, replace));
  }

  /**
   * Creates, changes, enables and disables several endpoints in one transaction: all of it, or nothing. Throws what
   * `create` and `patch` throw, and what `precondition` throws. Nobody learns the secrets of new endpoints; `rotateSecret`
   * shows new ones.
   */
  async changeAll(
    caller: Principal,
    { created, changed }: WebhookChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    const { tenantId } = caller;
    const checked: (NewWebhook & { readonly enabled: boolean })[] = [];
    for (const { body, enabled } of created) checked.push({ ...(await this.checkNew(caller, body)), enabled });
    await this.changeRules(tenantId, async (manager, replace) => {
      await this.webhooks.all(manager, tenantId, { locks: true });
      await precondition(manager);
      for (const { id, body, enabled } of changed) {
        if (body !== undefined) await this.patchIn(manager, caller, { id, body }, replace);
        if (enabled !== undefined) await this.setEnabled(manager, tenantId, id, enabled);
      }
      for (const { enabled, ...request } of checked) {
        const { endpoint } = await this.insert(manager, caller, request, replace);
        if (!enabled) await this.setEnabled(manager, tenantId, endpoint.id, false);
      }
    });
  }

  /** All endpoints with their rules, oldest first. In a transaction if one is given. */
  all(tenantId: string, manager = this.database.manager): Promise<Webhook[]> {
    return this.webhooks.all(manager, tenantId, { locks: false });
  }

  /** A body of `create` that is valid. Throws what `create` throws before it stores anything. */
  async checkNew(caller: Principal, body: unknown): Promise<NewWebhook> {
    const request = this.definitions.check(CreateWebhookDto, body);
    const rules = request.events.map(ruleOf);
    await this.checks.assertMayRead(caller, { unmask: request.unmask === true, rules });
    return { request, rules };
  }

  private async insert(
    manager: EntityManager,
    { tenantId, credentialId }: Principal,
    { request, rules }: NewWebhook,
    replace: ReplaceRules,
  ): Promise<IssuedWebhook> {
    const algorithm = request.algorithm ?? 'hmac-sha256';
    const { secret, shown } = makeSecret(algorithm, randomBytes);
    const id = newId();
    replace([], rules);
    await this.checks.assertRoom(manager, tenantId, id, rules, await this.webhooks.count(manager, tenantId));
    const now = await nextMillisecond(manager);
    const made: Webhook = {
      endpoint: {
        ...{ tenantId, id, url: request.url, description: textOf(request.description), algorithm },
        unmask: request.unmask === true,
        secret: this.box.seal(secret, tenantId, id),
        ...{ previousSecret: null, previousSecretUntil: null },
        ...{ enabled: true, disabledReason: null, disabledAt: null, failingSince: null },
        ...{ createdAt: now, createdBy: credentialId, updatedAt: now },
      },
      rules: mergeRules([], rules, now),
    };
    await this.webhooks.insert(manager, made);
    return { ...made, shownSecret: shown };
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<Webhook> {
    return this.found(tenantId, id);
  }

  /** One page below the id `start`, newest first. */
  async list(tenantId: string, start: string, limit: number): Promise<Page<Webhook>> {
    const { rows, nextCursor } = idPage(await this.webhooks.list(tenantId, start, limit + 1), limit);
    const ids = rows.map(({ id }) => id);
    const rules = await this.webhooks.rulesOf(undefined, tenantId, ids);
    const webhooks = rows.map((endpoint) => {
      return { endpoint, rules: rules.filter(({ endpointId }) => endpointId === endpoint.id) };
    });
    return { rows: webhooks, nextCursor };
  }

  /** In force on every node when this resolves. Throws what `create` throws, and `not_found`. */
  async patch(caller: Principal, id: string, body: unknown): Promise<Webhook> {
    return this.changeRules(caller.tenantId, (manager, replace) => {
      return this.patchIn(manager, caller, { id, body }, replace);
    });
  }

  private async patchIn(
    manager: EntityManager,
    caller: Principal,
    { id, body }: { readonly id: string; readonly body: unknown },
    replace: ReplaceRules,
  ): Promise<Webhook> {
    const { tenantId } = caller;
    const { url, events, description, unmask } = this.definitions.check(ChangeWebhookDto, body);
    const { endpoint, rules: before } = await this.found(tenantId, id, manager);
    const rules = events?.map(ruleOf) ?? before;
    if (events !== undefined) replace(before, rules);
    // Also for another URL alone: personal data would go there.
    await this.checks.assertMayRead(caller, { unmask: unmask ?? endpoint.unmask, rules });
    if (events !== undefined) await this.checks.assertRoom(manager, tenantId, id, rules, 0);
    const now = await nextMillisecond(manager);
    await this.webhooks.update(manager, endpoint, {
      ...(url === undefined ? {} : { url }),
      ...(description === undefined ? {} : { description: textOf(description) }),
      ...(unmask === undefined ? {} : { unmask }),
      updatedAt: now,
    });
    if (events !== undefined) await this.webhooks.replaceRules(manager, endpoint, mergeRules(before, rules, now));
    return this.found(tenantId, id, manager);
  }

  /** Deletes an endpoint. Its deliveries are removed in steps. Throws `not_found`. */
  delete(tenantId: string, id: string): Promise<Webhook> {
    return this.changeRules(tenantId, async (manager, replace) => {
      const webhook = await this.found(tenantId, id, manager);
      replace(webhook.rules, []);
      await this.webhooks.delete(manager, tenantId, id);
      await this.upkeep.removeLater(manager, tenantId, id);
      return webhook;
    });
  }

  /** A new secret. The old one signs, too, for 24 hours. Throws `not_found`. */
  async rotateSecret(tenantId: string, id: string): Promise<IssuedWebhook> {
    const { shown, webhook } = await this.database.transaction(async (manager) => {
      const { endpoint } = await this.found(tenantId, id, manager);
      const { secret, shown } = makeSecret(endpoint.algorithm, randomBytes);
      const now = this.clock.now();
      await this.webhooks.update(manager, endpoint, {
        secret: this.box.seal(secret, tenantId, id),
        previousSecret: endpoint.secret,
        previousSecretUntil: new Date(now.getTime() + ROTATION_HOURS * HOUR_MS),
        updatedAt: now,
      });
      return { shown, webhook: await this.found(tenantId, id, manager) };
    });
    return { ...webhook, shownSecret: shown };
  }

  /** Sends what was kept, in order, and everything new. Idempotent. Throws `not_found`. */
  enable(tenantId: string, id: string): Promise<Webhook> {
    return this.database.transaction((manager) => this.setEnabled(manager, tenantId, id, true));
  }

  /** Sends nothing from now on; deliveries are kept. Idempotent. Throws `not_found`. */
  disable(tenantId: string, id: string): Promise<Webhook> {
    return this.database.transaction((manager) => this.setEnabled(manager, tenantId, id, false));
  }

  private async setEnabled(manager: EntityManager, tenantId: string, id: string, enabled: boolean): Promise<Webhook> {
    const { endpoint, rules } = await this.found(tenantId, id, manager);
    if (!enabled && !endpoint.enabled) return { endpoint, rules };
    const now = this.clock.now();
    const changes = enabled
      ? { enabled, disabledReason: null, disabledAt: null, failingSince: null }
      : { enabled, disabledReason: 'manual' as const, disabledAt: now };
    await this.webhooks.update(manager, endpoint, { ...changes, updatedAt: now });
    if (enabled) await this.upkeep.resumeLater(manager, tenantId, id);
    return this.found(tenantId, id, manager);
  }

  private async found(tenantId: string, id: string, manager?: EntityManager): Promise<Webhook> {
    const webhook = isUuid(id) ? await this.webhooks.find(tenantId, id, manager) : undefined;
    if (webhook === undefined)
      throw new DomainError('not_found', 'There is no webhook with this id in this workspace.');
    return webhook;
  }

  /**
   * Changes of one workspace's rules run one at a time: on this node by the mutex, on all nodes by the lock of the
   * workspace's row.
   */
  private change<T>(tenantId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(tenantId, () =>
      this.database.transaction(async (manager) => {
        await this.webhooks.lockSet(manager, tenantId);
        return work(manager);
      }),
    );
  }

  /**
   * Runs `work`, which says which rules it replaces. Where rules for changes are among them all nodes are told. A new one
   * is in force on every node when this resolves, a second after the commit (docs/adr/0075).
   */
  private async changeRules<T>(
    tenantId: string,
    work: (manager: EntityManager, replace: ReplaceRules) => Promise<T>,
  ): Promise<T> {
    const replaced = { anyForChanges: false, anyNew: false };
    const replace: ReplaceRules = (before, rules) => {
      replaced.anyForChanges ||= [...before, ...rules].some(isChangeRule);
      replaced.anyNew ||= addsChangeRule(before, rules);
    };
    const result = await this.change(tenantId, async (manager) => {
      const done = await work(manager, replace);
      if (replaced.anyForChanges) await this.changes.announce(manager, tenantId);
      return done;
    });
    if (replaced.anyForChanges) this.changes.forget(tenantId);
    if (replaced.anyNew) await pause(CHANGE_RULE_DELAY_MS);
    return result;
  }
}

/** Of a checked body. */
function ruleOf({ eventType = '', source, when, change }: WebhookRuleDto): WebhookRule {
  if (change !== undefined) {
    const { scope, name, campaignId } = change;
    return { change: { scope, name, campaignId: campaignId ?? null } };
  }
  return { eventType, source: source ?? null, condition: when ?? null };
}

function textOf(description: string | undefined): string | null {
  return description === undefined || description === '' ? null : description;
}
