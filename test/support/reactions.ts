import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { newId } from '../../src/platform/values/ids';
import { PipelinedConnection, type Transaction } from '../../src/platform/postgres/pipelined-connection';
import type { EffectResult, EventToProcess, StoredEventRecord } from '../../src/processing/domain/event-effects';
import { EventEffects } from '../../src/processing/effects';

/** An event on its way out of the queue, each time a new one, of a participant unless it says otherwise. */
export function anEventToProcess(
  tenantId: string,
  fields: Partial<StoredEventRecord> = {},
  externalId: string | null = 'ann',
): EventToProcess {
  const event: StoredEventRecord = {
    eventId: newId(),
    family: 'external',
    source: 'shop',
    externalEventId: randomUUID(),
    eventType: 'purchase',
    eventTypeVersion: null,
    occurredAt: new Date(),
    receivedAt: new Date(),
    profileId: newId(),
    identity: { type: 'EXTERNAL', value: 'ann' },
    properties: { amount: 10.33 },
    ...fields,
  };
  return { tenantId, event, ownProfileId: event.profileId, externalId, recorded: [], backfilled: [] };
}

/** A worker of a node: applies effects as the processing of events does, in a transaction of its own. */
export class EffectsWorker {
  /** The names of statements that were sent and answered. */
  readonly sent: string[] = [];
  private readonly connection: PipelinedConnection;

  constructor(
    private readonly node: INestApplicationContext,
    databaseUrl: string,
  ) {
    const options = { applicationName: 'cds-effects', lockTimeoutMs: 5_000, statementTimeoutMs: 5_000 };
    this.connection = new PipelinedConnection({ url: databaseUrl }, options);
  }

  /** `beforeCommit` may throw, and nothing is kept. */
  apply(events: readonly EventToProcess[], beforeCommit = () => Promise.resolve()): Promise<readonly EffectResult[]> {
    return this.connection.transaction(async (transaction) => {
      const results = await this.node.get(EventEffects).apply(this.noting(transaction), events);
      await beforeCommit();
      return results;
    });
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private noting(transaction: Transaction): Transaction {
    return {
      send: (statement, values) => {
        this.sent.push(statement.name);
        return transaction.send(statement, values);
      },
      sendLast: (statement, values) => transaction.sendLast(statement, values),
      beforeCommit: (steps) => transaction.beforeCommit(steps),
    };
  }
}

/** Results in one line each: `name outcome reason`. */
export function summaryOf(result: EffectResult | undefined): string[] {
  return (result?.reactions ?? []).map(({ name, outcome, reason }) =>
    [name, outcome, reason].filter(Boolean).join(' '),
  );
}
