import { Injectable } from '@nestjs/common';
import { RuleCache } from '../processing/rule-cache';
import { compileCondition } from '../reactions/domain/compile-condition';
import type { Condition } from '../reactions/domain/condition';
import type { RuleToMatch } from './domain/match-rules';
import { RULES_PER_EVENT_TYPE_MAX } from './domain/webhook';
import { READ_RULES, READ_RULE_VERSIONS } from './webhook.sql';

interface RuleRow {
  readonly position: string;
  readonly endpoint_id: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly applies_from: Date;
}

/** The compiled rules of endpoints for types of events, grouped by endpoint. */
@Injectable()
export class EventRuleCache extends RuleCache<RuleRow, RuleToMatch> {
  constructor() {
    super({
      readVersions: READ_RULE_VERSIONS,
      readRules: READ_RULES,
      rulesPerEventTypeMax: RULES_PER_EVENT_TYPE_MAX,
      compile,
    });
  }
}

function compile({ endpoint_id: endpointId, source, condition, applies_from: appliesFrom }: RuleRow): RuleToMatch {
  return {
    endpointId,
    source,
    appliesFrom,
    condition: condition === null ? undefined : compileCondition(condition),
  };
}
