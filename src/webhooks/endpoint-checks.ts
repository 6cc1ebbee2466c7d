import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { scopeMissing } from '../platform/errors/challenges';
import type { Principal } from '../platform/auth/principal';
import { assertFreshProof } from '../platform/auth/fresh-proof';
import { grants } from '../platform/auth/scopes';
import type { Fault } from '../platform/errors/fault';
import { itemPath } from '../platform/errors/fault-words';
import { validationFailed } from '../platform/errors/validation-failed';
import { PersonalProperties } from '../platform/privacy/personal-properties';
import { Clock } from '../platform/values/clock';
import { personalReads } from '../reactions/domain/personal-data';
import { assertMayGetChanges } from './change-rules';
import {
  ENDPOINTS_PER_WORKSPACE_MAX,
  isChangeRule,
  RULES_PER_EVENT_TYPE_MAX,
  type WebhookRule,
} from './domain/webhook';
import { WebhookRepository } from './webhook.repository';

/** What an endpoint may not be, whatever its body: more than the caller may see, or than the workspace may have. */
@Injectable()
export class EndpointChecks {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly personal: PersonalProperties,
    private readonly clock: Clock,
  ) {}

  /**
   * Throws `insufficient_scope` if an endpoint would show or read personal data, or changes, that the caller may not see.
   */
  async assertMayRead(
    caller: Principal,
    { unmask, rules }: { readonly unmask: boolean; readonly rules: readonly WebhookRule[] },
  ): Promise<void> {
    assertMayGetChanges(caller, rules);
    const hasScope = grants(caller.scopes, 'pii:read');
    if (hasScope && caller.session === undefined) return;
    const paths = unmask ? ['unmask'] : [];
    for (const [index, rule] of rules.entries()) {
      if (isChangeRule(rule) || rule.condition === null) continue;
      const { eventType, condition } = rule;
      const names = await this.personal.namesOf(caller.tenantId, eventType);
      const reads = personalReads({ when: condition, ops: [] }, names);
      paths.push(...reads.map((path) => `${itemPath('events', index)}.${path}`));
    }
    if (paths.length === 0) return;
    if (hasScope) {
      assertFreshProof(caller, this.clock.now());
      return;
    }
    const message =
      'A webhook that shows or reads identity or personal properties of events requires the scope pii:read, which the ' +
      'credential lacks. Use a credential that has it, or leave personal data out.';
    const details = paths.map((path) => {
      return { path, code: 'personal_data' as const, message: `${path} requires the scope pii:read.` };
    });
    throw scopeMissing('pii:read', message, details);
  }

  /**
   * Throws `validation_failed` with `limit_exceeded` for each limit that the endpoint would break. `endpoints`: how many the
   * workspace has already; 0 for a change of an endpoint, which adds none.
   */
  async assertWithinLimits(
    manager: EntityManager,
    tenantId: string,
    endpointId: string,
    rules: readonly WebhookRule[],
    endpoints: number,
  ): Promise<void> {
    const faults: Fault[] = [];
    if (endpoints >= ENDPOINTS_PER_WORKSPACE_MAX) {
      const message = `The workspace already has ${ENDPOINTS_PER_WORKSPACE_MAX} webhooks, which is the limit; delete one that is no longer used.`;
      faults.push({ path: 'url', code: 'limit_exceeded', message });
    }
    const types = rules.map((rule) => (isChangeRule(rule) ? undefined : rule.eventType));
    const distinct = [...new Set(types)].filter((type) => type !== undefined);
    const others = await this.webhooks.countRules(manager, tenantId, distinct, endpointId);
    types.forEach((eventType, index) => {
      if (eventType === undefined) return;
      const own = types.slice(0, index + 1).filter((each) => each === eventType).length;
      if ((others.get(eventType) ?? 0) + own <= RULES_PER_EVENT_TYPE_MAX) return;
      const path = `${itemPath('events', index)}.eventType`;
      const message = `The workspace already has ${RULES_PER_EVENT_TYPE_MAX} rules of webhooks for this eventType, which is the limit; delete one that is no longer used.`;
      faults.push({ path, code: 'limit_exceeded', message });
    });
    if (faults.length > 0) throw validationFailed(faults);
  }
}
