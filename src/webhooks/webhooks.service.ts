import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Principal } from '../platform/auth/principal';
import { DomainError } from '../platform/errors/domain-error';
import type { Page } from '../platform/pagination/page';
import { nextMillisecond } from '../platform/postgres/next-millisecond';
import type { TransactionPrecondition } from '../platform/postgres/transaction-precondition';
import { SecretBox } from '../platform/secrets/secret-box';
import { Clock } from '../platform/values/clock';
import { newId } from '../platform/values/ids';
import { isUuid } from '../platform/values/uuid';
import { DeliveryMaintenance } from './delivery/delivery-maintenance';
import { makeSecret } from './domain/standard-webhooks';
import { mergeRules, ROTATION_HOURS, type WebhookRule } from './domain/webhook';
import { ChangeWebhookDto, CreateWebhookDto, webhookRule } from './dto/webhook.dto';
import { EndpointChecks } from './endpoint-checks';
import { WebhookAudit, type WebhookCaller } from './webhook-audit';
import { WebhookDefinitionCheck } from './webhook-definition-check';
import { WebhookRuleUpdates, type NoteReplacedRules } from './webhook-rule-updates';
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

/** Manages the endpoints of a workspace (contract section 15). */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhookRepository,
    private readonly definitions: WebhookDefinitionCheck,
    private readonly checks: EndpointChecks,
    private readonly maintenance: DeliveryMaintenance,
    private readonly ruleUpdates: WebhookRuleUpdates,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    private readonly audit: WebhookAudit,
  ) {}

  /**
   * Creates an endpoint; it gets events that are received from now on. Throws `validation_failed` with every fault, and
   * `insufficient_scope` if it would show or read personal data that the caller may not see.
   */
  async create(caller: Principal, body: unknown, address: string | null): Promise<IssuedWebhook> {
    const checked = await this.checkNew(caller, body);
    const by = { ...caller, address };
    return this.ruleUpdates.run(caller.tenantId, (manager, noteReplaced) =>
      this.insert(manager, by, checked, noteReplaced),
    );
  }

  /**
   * Creates, changes, enables and disables several endpoints in one transaction: all of it, or nothing. Throws what
   * `create` and `patch` throw, and what `precondition` throws. Nobody learns the secrets of new endpoints; `rotateSecret`
   * shows new ones.
   */
  async changeAll(
    principal: Principal,
    { created, changed }: WebhookChanges,
    precondition: TransactionPrecondition,
  ): Promise<void> {
    const caller = { ...principal, address: null };
    const { tenantId } = caller;
    const checked: (NewWebhook & { readonly enabled: boolean })[] = [];
    for (const { body, enabled } of created) checked.push({ ...(await this.checkNew(caller, body)), enabled });
    await this.ruleUpdates.run(tenantId, async (manager, noteReplaced) => {
      await this.webhooks.all(manager, tenantId, { locks: true });
      await precondition(manager);
      for (const { id, body, enabled } of changed) {
        if (body !== undefined) await this.patchWithin(manager, caller, { id, body }, noteReplaced);
        if (enabled !== undefined) await this.setEnabled(manager, caller, id, enabled);
      }
      for (const { enabled, ...request } of checked) {
        const { endpoint } = await this.insert(manager, caller, request, noteReplaced);
        if (!enabled) await this.setEnabled(manager, caller, endpoint.id, false);
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
    const rules = request.events.map(webhookRule);
    await this.checks.assertMayRead(caller, { unmask: request.unmask === true, rules });
    return { request, rules };
  }

  private async insert(
    manager: EntityManager,
    caller: WebhookCaller,
    { request, rules }: NewWebhook,
    noteReplaced: NoteReplacedRules,
  ): Promise<IssuedWebhook> {
    const { tenantId, credentialId } = caller;
    const algorithm = request.algorithm ?? 'hmac-sha256';
    const { secret, shown } = makeSecret(algorithm, randomBytes);
    const id = newId();
    noteReplaced([], rules);
    await this.checks.assertWithinLimits(manager, tenantId, id, rules, await this.webhooks.count(manager, tenantId));
    const now = await nextMillisecond(manager);
    const made: Webhook = {
      endpoint: {
        tenantId,
        id,
        url: request.url,
        description: textOf(request.description),
        algorithm,
        unmask: request.unmask === true,
        secret: this.box.seal(secret, tenantId, id),
        previousSecret: null,
        previousSecretUntil: null,
        olderSecret: null,
        olderSecretUntil: null,
        enabled: true,
        disabledReason: null,
        disabledAt: null,
        enabledAt: null,
        failingSince: null,
        createdAt: now,
        createdBy: credentialId,
        updatedAt: now,
      },
      rules: mergeRules([], rules, now),
    };
    await this.webhooks.insert(manager, made);
    await this.audit.note(manager, caller, 'created', made);
    return { ...made, shownSecret: shown };
  }

  /** In a transaction if one is given. Throws `not_found`. */
  async get(tenantId: string, id: string, manager?: EntityManager): Promise<Webhook> {
    return this.found(tenantId, id, manager);
  }

  /** One page below the id `start`, newest first; a shorter one if the rules are large. */
  list(tenantId: string, start: string, limit: number): Promise<Page<Webhook>> {
    return this.webhooks.list(tenantId, start, limit);
  }

  /**
   * In force on every node when this resolves; a rule for changes that is removed may still match one of the next second. At a
   * new address the attempts begin anew, as for an endpoint that is enabled.
   * Throws what `create` throws, and `not_found`.
   */
  async patch(principal: Principal, id: string, body: unknown, address: string | null): Promise<Webhook> {
    const caller = { ...principal, address };
    return this.ruleUpdates.run(caller.tenantId, (manager, noteReplaced) => {
      return this.patchWithin(manager, caller, { id, body }, noteReplaced);
    });
  }

  private async patchWithin(
    manager: EntityManager,
    caller: WebhookCaller,
    { id, body }: { readonly id: string; readonly body: unknown },
    noteReplaced: NoteReplacedRules,
  ): Promise<Webhook> {
    const { tenantId } = caller;
    const { url, events, description, unmask } = this.definitions.check(ChangeWebhookDto, body);
    await this.webhooks.lock(manager, tenantId, id);
    const { endpoint, rules: before } = await this.found(tenantId, id, manager);
    const rules = events?.map(webhookRule) ?? before;
    if (events !== undefined) noteReplaced(before, rules);
    // Also for another URL alone: personal data would go there.
    await this.checks.assertMayRead(caller, { unmask: unmask ?? endpoint.unmask, rules });
    if (events !== undefined) await this.checks.assertWithinLimits(manager, tenantId, id, rules, 0);
    const now = await nextMillisecond(manager);
    // What the former address refused says nothing about the new one.
    const isMoved = url !== undefined && url !== endpoint.url && endpoint.enabled;
    await this.webhooks.update(manager, endpoint, {
      ...(url === undefined ? {} : { url }),
      ...(isMoved ? { enabledAt: now, failingSince: null } : {}),
      ...(description === undefined ? {} : { description: textOf(description) }),
      ...(unmask === undefined ? {} : { unmask }),
      updatedAt: now,
    });
    if (events !== undefined) await this.webhooks.replaceRules(manager, endpoint, mergeRules(before, rules, now));
    if (isMoved) await this.maintenance.resumeLater(manager, tenantId, id);
    const changed = await this.found(tenantId, id, manager);
    await this.audit.note(manager, caller, 'changed', changed);
    return changed;
  }

  /** Deletes an endpoint. Its deliveries are removed in steps. Throws `not_found`. */
  delete(caller: WebhookCaller, id: string): Promise<Webhook> {
    const { tenantId } = caller;
    return this.ruleUpdates.run(tenantId, async (manager, noteReplaced) => {
      const webhook = await this.found(tenantId, id, manager);
      noteReplaced(webhook.rules, []);
      await this.webhooks.delete(manager, tenantId, id);
      await this.audit.note(manager, caller, 'deleted', webhook);
      await this.maintenance.removeLater(manager, tenantId, id);
      return webhook;
    });
  }

  /** A new secret. Each of the last two before it signs, too, until 24 hours after its end. Throws `not_found`. */
  async rotateSecret(caller: WebhookCaller, id: string): Promise<IssuedWebhook> {
    const { tenantId } = caller;
    const { shown, webhook } = await this.database.transaction(async (manager) => {
      // One rotation after the other: each secret that was shown has to sign.
      await this.webhooks.lock(manager, tenantId, id);
      const { endpoint } = await this.found(tenantId, id, manager);
      const { secret, shown } = makeSecret(endpoint.algorithm, randomBytes);
      const now = this.clock.now();
      await this.webhooks.update(manager, endpoint, {
        // Sealed for the id as it is stored: that of the path may be in upper case.
        secret: this.box.seal(secret, tenantId, endpoint.id),
        previousSecret: endpoint.secret,
        previousSecretUntil: new Date(now.getTime() + ROTATION_HOURS * HOUR_MS),
        olderSecret: endpoint.previousSecret,
        olderSecretUntil: endpoint.previousSecretUntil,
        updatedAt: now,
      });
      const webhook = await this.found(tenantId, id, manager);
      await this.audit.note(manager, caller, 'secret_rotated', webhook);
      return { shown, webhook };
    });
    return { ...webhook, shownSecret: shown };
  }

  /** Sends what was kept, in order, and everything new. Idempotent. Throws `not_found`. */
  enable(caller: WebhookCaller, id: string): Promise<Webhook> {
    return this.database.transaction((manager) => this.setEnabled(manager, caller, id, true));
  }

  /** Sends nothing from now on; deliveries are kept. Idempotent. Throws `not_found`. */
  disable(caller: WebhookCaller, id: string): Promise<Webhook> {
    return this.database.transaction((manager) => this.setEnabled(manager, caller, id, false));
  }

  private async setEnabled(
    manager: EntityManager,
    caller: WebhookCaller,
    id: string,
    enabled: boolean,
  ): Promise<Webhook> {
    const { tenantId } = caller;
    // Else two calls at once would both find a change, and one might replace the reason of an automatic disabling.
    await this.webhooks.lock(manager, tenantId, id);
    const { endpoint, rules } = await this.found(tenantId, id, manager);
    if (!enabled && !endpoint.enabled) return { endpoint, rules };
    const now = this.clock.now();
    const changes = enabled
      ? { enabled, disabledReason: null, disabledAt: null, enabledAt: now, failingSince: null }
      : { enabled, disabledReason: 'manual' as const, disabledAt: now };
    await this.webhooks.update(manager, endpoint, { ...changes, updatedAt: now });
    if (enabled) await this.maintenance.resumeLater(manager, tenantId, id);
    const isChanged = endpoint.enabled !== enabled;
    if (isChanged) await this.audit.note(manager, caller, enabled ? 'enabled' : 'disabled', { endpoint });
    return this.found(tenantId, id, manager);
  }

  private async found(tenantId: string, id: string, manager?: EntityManager): Promise<Webhook> {
    const webhook = isUuid(id) ? await this.webhooks.find(tenantId, id, manager) : undefined;
    if (webhook === undefined)
      throw new DomainError('not_found', 'There is no webhook with this id in this workspace.');
    return webhook;
  }
}

function textOf(description: string | undefined): string | null {
  return description === undefined || description === '' ? null : description;
}
