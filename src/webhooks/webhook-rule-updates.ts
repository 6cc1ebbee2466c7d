import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { KeyedMutex } from '../platform/async/keyed-mutex';
import { ChangeRulesCache } from './change-rules';
import {
  addsChangeRule,
  CHANGE_RULE_DELAY_MS,
  isChangeRule,
  type StoredRule,
  type WebhookRule,
} from './domain/webhook';
import { WebhookRepository } from './webhook.repository';

/** To be called with the rules of an endpoint before and after its change. It stores nothing. */
export type NoteReplacedRules = (before: readonly StoredRule[], rules: readonly WebhookRule[]) => void;

/** Runs updates of the rules of endpoints, and tells all nodes which rules for changes of values are in force. */
@Injectable()
export class WebhookRuleUpdates {
  private readonly mutex = new KeyedMutex();

  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhookRepository,
    private readonly changeRules: ChangeRulesCache,
  ) {}

  /**
   * Runs `work` in a transaction. `work` replaces rules itself and calls `noteReplaced` for each endpoint. If rules for
   * changes are among them, all nodes are told. A new one is in force on every node when this resolves, a second after
   * the commit (docs/adr/0075).
   */
  async run<T>(
    tenantId: string,
    work: (manager: EntityManager, noteReplaced: NoteReplacedRules) => Promise<T>,
  ): Promise<T> {
    const replaced = { anyForChanges: false, anyNew: false };
    const noteReplaced: NoteReplacedRules = (before, rules) => {
      replaced.anyForChanges ||= [...before, ...rules].some(isChangeRule);
      replaced.anyNew ||= addsChangeRule(before, rules);
    };
    const result = await this.oneAtATime(tenantId, async (manager) => {
      const done = await work(manager, noteReplaced);
      if (replaced.anyForChanges) await this.changeRules.announce(manager, tenantId);
      return done;
    });
    if (replaced.anyForChanges) this.changeRules.forget(tenantId);
    if (replaced.anyNew) await pause(CHANGE_RULE_DELAY_MS);
    return result;
  }

  /** For each workspace: on this node by the mutex, on all nodes by the lock of the workspace's row. */
  private oneAtATime<T>(tenantId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(tenantId, () =>
      this.database.transaction(async (manager) => {
        await this.webhooks.lockSet(manager, tenantId);
        return work(manager);
      }),
    );
  }
}
