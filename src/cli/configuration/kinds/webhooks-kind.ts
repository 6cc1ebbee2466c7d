import type { Principal } from '../../../platform/auth/principal';
import { typeFault } from '../../../platform/errors/fault-words';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { DomainError } from '../../../platform/errors/domain-error';
import { isAbsent } from '../../../platform/values/json/is-absent';
import { isChangeRule, type StoredRule } from '../../../webhooks/domain/webhook';
import type { WebhookChanges, WebhooksService } from '../../../webhooks/webhooks.service';
import {
  entryOf,
  textIn,
  without,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
} from '../configuration-kind';

type StoredWebhook = Awaited<ReturnType<WebhooksService['all']>>[number];

const DEFAULTS = { unmask: false, algorithm: 'hmac-sha256', enabled: true, description: '' };

/** Endpoints of webhooks, by URL, without their secrets. Archiving disables them. */
export function webhooksKind(caller: Principal, service: WebhooksService): ConfigurationKind {
  const { tenantId } = caller;
  return {
    name: 'webhooks',
    archiving: { verb: 'disable', note: 'events are kept for it until it is enabled or deleted' },
    mayRepeat: true,
    keyOf: (entry) => textIn(entry, 'url'),
    read: async (manager) =>
      (await service.all(tenantId, manager)).map((webhook) => ({
        key: webhook.endpoint.url,
        id: webhook.endpoint.id,
        entry: entryOfWebhook(webhook),
        isArchived: !webhook.endpoint.enabled,
      })),
    parse: async (given) => {
      const { enabled } = given;
      const faults = isAbsent(enabled) || typeof enabled === 'boolean' ? [] : [typeFault('enabled', 'true or false')];
      const { request } = await service.checkNew(caller, without(given, 'enabled')).catch((error: unknown) => {
        if (!(error instanceof DomainError)) throw error;
        throw validationFailed([...error.details, ...faults]);
      });
      if (faults.length > 0) throw validationFailed(faults);
      const { url, events, description, unmask, algorithm } = request;
      const rules = events.map(({ eventType, source, when, change }) => {
        return entryOf({ eventType, source, when, change: change === undefined ? undefined : entryOf({ ...change }) });
      });
      return entryOf({ url, events: rules, description, unmask, algorithm, enabled }, DEFAULTS);
    },
    review: (before, after) => {
      if (before === undefined) {
        return { notes: ['its secret is shown by POST /v1/webhooks/{id}:rotate-secret, and nowhere else'] };
      }
      if (before['algorithm'] === after['algorithm']) return {};
      const message = 'algorithm cannot be changed; keep it, or create another endpoint by POST /v1/webhooks.';
      return { faults: [{ path: 'algorithm', code: 'conflicting_fields', message }] };
    },
    apply: (changes, { precondition }) => {
      const created = changes.flatMap(({ action, after }) => {
        if (action !== 'create' || after === undefined) return [];
        return [{ body: without(after, 'enabled'), enabled: after['enabled'] !== false }];
      });
      const changed = changes.flatMap(changeOf);
      return service.changeAll(caller, { created, changed }, precondition);
    },
  };
}

function changeOf({ action, id, before, after }: PlannedChange): WebhookChanges['changed'] {
  if (action === 'create' || id === undefined) return [];
  if (after === undefined) return [{ id, enabled: false }];
  const body = { description: '', unmask: false, ...without(after, 'enabled', 'algorithm') };
  const isSwitched = before?.['enabled'] !== after['enabled'];
  return [{ id, body, ...(isSwitched ? { enabled: after['enabled'] !== false } : {}) }];
}

function entryOfWebhook({ endpoint, rules }: StoredWebhook): ConfigurationEntry {
  const { url, description, unmask, algorithm, enabled } = endpoint;
  return entryOf({ url, events: rules.map(ruleEntry), description, unmask, algorithm, enabled }, DEFAULTS);
}

function ruleEntry(rule: StoredRule): ConfigurationEntry {
  if (isChangeRule(rule)) {
    const { scope, name, campaignId } = rule.change;
    return { change: entryOf({ scope, name, campaignId }) };
  }
  const { eventType, source, condition } = rule;
  return entryOf({ eventType, source, when: condition });
}
