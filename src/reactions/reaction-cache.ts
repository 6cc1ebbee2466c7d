import { Injectable } from '@nestjs/common';
import { RuleCache } from '../processing/rule-cache';
import { compileCondition } from './domain/compile-condition';
import type { Condition } from './domain/condition';
import { sharedCopiesOf } from './domain/personal-data';
import type { CompiledReaction } from './domain/react';
import { type ReactionOperation, REACTIONS_PER_EVENT_TYPE_MAX } from './domain/reaction';
import { READ_REACTIONS, READ_SET_VERSIONS } from './reaction.sql';

interface ReactionRow {
  readonly position: string;
  readonly id: string;
  readonly campaign_id: string;
  readonly name: string;
  readonly source: string | null;
  readonly condition: Condition | null;
  readonly operations: readonly ReactionOperation[];
  readonly applies_from: Date;
  readonly backfill_id: string | null;
}

/** The compiled reactions to types of events, in the order of their first definition. */
@Injectable()
export class ReactionCache extends RuleCache<ReactionRow, CompiledReaction> {
  constructor() {
    super({
      readVersions: READ_SET_VERSIONS,
      readRules: READ_REACTIONS,
      rulesPerEventTypeMax: REACTIONS_PER_EVENT_TYPE_MAX,
      compile,
    });
  }
}

function compile(row: ReactionRow): CompiledReaction {
  const { id, campaign_id: campaignId, name, source, condition, operations: ops } = row;
  return {
    reaction: { id, campaignId, name, source, ops, appliesFrom: row.applies_from, backfillId: row.backfill_id },
    condition: condition === null ? undefined : compileCondition(condition),
    sharedCopies: sharedCopiesOf(ops),
  };
}
