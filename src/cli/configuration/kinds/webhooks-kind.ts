import type { EntityManager } from 'typeorm';
import type { CreateWebhookDto, WebhookRuleDto } from '../../../webhooks/dto/webhook.dto';
import type { Principal } from '../../../platform/auth/principal';
import { typeFault } from '../../../platform/errors/fault-words';
import { validationFailed } from '../../../platform/errors/validation-failed';
import { DomainError } from '../../../platform/errors/domain-error';
import { isAbsent } from '../../../platform/values/json/json-values';
import { isChangeRule, type StoredRule } from '../../../webhooks/domain/webhook';
import type { WebhookChanges, WebhooksService } from '../../../webhooks/webhooks.service';
import {
  entryOf,
  textIn,
  without,
  type ApplyOptions,
  type ChangeReview,
  type ConfigurationEntry,
  type ConfigurationKind,
  type PlannedChange,
  type StoredConfigurationEntry,
} from '../configuration-kind';

type StoredWebhook = Awaited<ReturnType<WebhooksService['all']>>[number];

/** A further field does not compile until the file has it in both directions: it would be dropped there without a word. */
type FieldInFile = keyof CreateWebhookDto | 'enabled';
/** What a file may leave out. */
const DEFAULTS = {
  unmask: false,
  algorithm: 'hmac-sha256',
  enabled: true,
  description: '',
} satisfies Record<Exclude<FieldInFile, 'url' | 'events'>, unknown>;

/** Endpoints of webhooks, by URL, without their secrets. Archiving disables them. */
export class WebhooksKind implements ConfigurationKind {
  readonly name = 'webhooks';
  readonly archiving = { verb: 'disable', note: 'events are kept for it until it is enabled or deleted' };
  readonly mayRepeat = true;

  constructor(
    private readonly caller: Principal,
    private readonly service: WebhooksService,
  ) {}

  keyOf(entry: ConfigurationEntry): string {
    return textIn(entry, 'url');
  }

  async read(manager?: EntityManager): Promise<readonly StoredConfigurationEntry[]> {
    return (await this.service.all(this.caller.tenantId, manager)).map((webhook) => ({
      key: webhook.endpoint.url,
      id: webhook.endpoint.id,
      entry: entryOfWebhook(webhook),
      isArchived: !webhook.endpoint.enabled,
    }));
  }

  async parse(given: ConfigurationEntry): Promise<ConfigurationEntry> {
    const { enabled } = given;
    const faults = isAbsent(enabled) || typeof enabled === 'boolean' ? [] : [typeFault('enabled', 'true or false')];
    const checked = await this.service.checkNew(this.caller, without(given, 'enabled')).catch((error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      throw validationFailed([...error.details, ...faults]);
    });
    if (faults.length > 0) throw validationFailed(faults);
    const { url, events, description, unmask, algorithm } = checked.request;
    return fileEntry({ url, events: events.map(ruleInFile), description, unmask, algorithm, enabled });
  }

  review(before: ConfigurationEntry | undefined, after: ConfigurationEntry): ChangeReview {
    if (before === undefined) {
      return { notes: ['its secret is shown by POST /v1/webhooks/{id}:rotate-secret, and nowhere else'] };
    }
    if (before['algorithm'] === after['algorithm']) {
      const isEnabled = before['enabled'] === false && after['enabled'] !== false;
      return isEnabled ? { notes: ['it is enabled again, and gets what was kept for it meanwhile'] } : {};
    }
    const message = 'algorithm cannot be changed; keep it, or create another endpoint by POST /v1/webhooks.';
    return { faults: [{ path: 'algorithm', code: 'conflicting_fields', message }] };
  }

  apply(changes: readonly PlannedChange[], { precondition }: ApplyOptions): Promise<void> {
    const created = changes.flatMap(({ action, after }) => {
      if (action !== 'create' || after === undefined) return [];
      return [{ body: without(after, 'enabled'), enabled: after['enabled'] !== false }];
    });
    return this.service.changeAll(this.caller, { created, changed: changes.flatMap(changeOf) }, precondition);
  }
}

function fileEntry(fields: Readonly<Record<FieldInFile, unknown>>): ConfigurationEntry {
  return entryOf(fields, DEFAULTS);
}

function ruleInFile({ eventType, source, when, change }: WebhookRuleDto): ConfigurationEntry {
  const { scope, name, campaignId } = change ?? {};
  return entryOf({ eventType, source, when, change: change && entryOf({ scope, name, campaignId }) });
}

function changeOf({ action, id, before, after }: PlannedChange): WebhookChanges['changed'] {
  if (action === 'create' || id === undefined) return [];
  if (after === undefined) return [{ id, enabled: false }];
  const body = without({ ...DEFAULTS, ...after }, 'enabled', 'algorithm');
  const isSwitched = before?.['enabled'] !== after['enabled'];
  return [{ id, body, ...(isSwitched ? { enabled: after['enabled'] !== false } : {}) }];
}

function entryOfWebhook({ endpoint, rules }: StoredWebhook): ConfigurationEntry {
  const { url, description, unmask, algorithm, enabled } = endpoint;
  return fileEntry({ url, events: rules.map(ruleEntry), description, unmask, algorithm, enabled });
}

function ruleEntry(rule: StoredRule): ConfigurationEntry {
  if (isChangeRule(rule)) {
    const { scope, name, campaignId } = rule.change;
    return { change: entryOf({ scope, name, campaignId }) };
  }
  const { eventType, source, condition } = rule;
  return entryOf({ eventType, source, when: condition });
}
