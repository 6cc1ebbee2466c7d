import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { newId } from '../platform/values/ids';
import { timestampsOfMicros } from '../platform/values/timestamp';
import { ChangeSubscribers } from '../runtime/change-subscribers';
import type { ValueChange } from '../runtime/domain/value-change';
import { INSERT_WEBHOOK_CHANGES } from './change.sql';
import { ChangeRulesCache, type ChangeRules } from './change-rules';
import { DeliverySignal } from './delivery/delivery-signal';
import { changeQueueId, contentOfChange, subjectOfChange } from './domain/stored-change';

/**
 * Stores the changes that endpoints get, in the transaction of the changes (docs/adr/0075). A dispatcher adds their
 * deliveries afterwards, so that no mutation waits for a lock of webhooks. While nothing is subscribed, a mutation costs
 * a look-up in memory.
 */
@Injectable()
export class ChangeOutbox implements OnModuleInit {
  constructor(
    private readonly subscribers: ChangeSubscribers,
    private readonly rules: ChangeRulesCache,
    private readonly signal: DeliverySignal,
  ) {}

  onModuleInit(): void {
    this.subscribers.register((transaction, changes) => this.store(transaction, changes));
  }

  private store(transaction: Transaction, changes: readonly ValueChange[]): Promise<void> | undefined {
    const known = new Map<string, ChangeRules>();
    let missing: Set<string> | undefined;
    for (const { key } of changes) {
      if (known.has(key.tenantId)) continue;
      const rules = this.rules.recall(key.tenantId);
      if (rules === undefined) (missing ??= new Set()).add(key.tenantId);
      else known.set(key.tenantId, rules);
    }
    if (missing !== undefined) return this.storeAfterReading(transaction, changes, [...missing], known);
    this.insert(transaction, changes, known);
    return undefined;
  }

  private async storeAfterReading(
    transaction: Transaction,
    changes: readonly ValueChange[],
    missing: readonly string[],
    known: Map<string, ChangeRules>,
  ): Promise<void> {
    for (const [tenantId, rules] of await this.rules.read(missing)) known.set(tenantId, rules);
    this.insert(transaction, changes, known);
  }

  private insert(
    transaction: Transaction,
    changes: readonly ValueChange[],
    known: ReadonlyMap<string, ChangeRules>,
  ): void {
    const subscribed = changes.flatMap((change, position) => {
      const rules = known.get(change.key.tenantId);
      if (rules === undefined || rules.isEmpty) return [];
      const endpointIds = rules.endpointsFor(change);
      return endpointIds.length === 0 ? [] : [{ change, position, endpointIds }];
    });
    if (subscribed.length === 0) return;
    transaction.sendLast(INSERT_WEBHOOK_CHANGES, [
      subscribed.map(({ change }) => change.key.tenantId),
      subscribed.map(() => newId()),
      subscribed.map(({ position }) => position),
      subscribed.map(({ change }) => changeQueueId(change)),
      subscribed.map(({ change }) => subjectOfChange(change)),
      subscribed.map(({ change }) => JSON.stringify(contentOfChange(change))),
      subscribed.map(({ endpointIds }) => `{${endpointIds.join(',')}}`),
      timestampsOfMicros(subscribed.map(({ change }) => change.atMicros)),
    ]);
    transaction.afterCommit(() => this.signal.announceChanges());
  }
}
