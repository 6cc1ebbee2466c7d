import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { newId } from '../../src/platform/values/ids';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../src/platform/postgres/connection-settings';
import type { ReactionRecord } from '../../src/ingest/queue/processing-record';
import type { LoggedEvent } from '../../src/ingest/domain/event';
import { PipelinedConnection, type Transaction } from '../../src/platform/postgres/pipelined-connection';
import type { EffectResult, EventToProcess } from '../../src/processing/domain/event-effects';
import { finishedRecord } from '../../src/processing/domain/processing-outcome';
import { EventEffects } from '../../src/processing/effects';
import { EventQueue } from '../../src/ingest/queue/event-queue';
import { sqlStateOf } from '../../src/platform/postgres/database-errors';
import { aStoredEvent } from './stored-event';

const UNIQUE_VIOLATION = '23505';

/** An event on its way out of the queue, each time a new one, of a participant unless it says otherwise. */
export function anEventToProcess(
  tenantId: string,
  fields: Partial<LoggedEvent> = {},
  externalId: string | null = 'ann',
): EventToProcess {
  const event = aStoredEvent({
    eventId: newId(),
    externalEventId: randomUUID(),
    profileId: newId(),
    occurredAt: new Date(),
    receivedAt: new Date(),
    properties: { amount: 10.33 },
    ...fields,
  });
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
    const settings = { ...node.get<ConnectionSettings>(CONNECTION_SETTINGS), url: databaseUrl };
    this.connection = new PipelinedConnection(settings, options);
  }

  /**
   * Reads the records of the events, applies the effects and writes the records. Events of one workspace. What failed or was
   * skipped before is tried again, as by a replay. Begins again when another worker has written a first record meanwhile.
   * `beforeCommit` may throw, and nothing is kept.
   */
  async apply(
    events: readonly EventToProcess[],
    beforeCommit = () => Promise.resolve(),
  ): Promise<readonly EffectResult[]> {
    try {
      return await this.attempt(events, beforeCommit);
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
      return this.attempt(events, beforeCommit);
    }
  }

  private attempt(
    events: readonly EventToProcess[],
    beforeCommit: () => Promise<void>,
  ): Promise<readonly EffectResult[]> {
    const queue = this.node.get(EventQueue);
    const tenantId = events[0]?.tenantId ?? '';
    const ids = events.map(({ event }) => event.eventId);
    return this.connection.transaction(async (transaction) => {
      const records = await queue.lockProcessing(transaction, tenantId, ids);
      const recorded = events.map((each) => ({
        ...each,
        recorded: records.get(each.event.eventId)?.reactions.filter(isNotTriedAgain) ?? each.recorded,
      }));
      const results = await this.node.get(EventEffects).apply(this.noting(transaction), recorded);
      await beforeCommit();
      const finished = results.flatMap((result, index) => {
        const eventId = ids[index] ?? '';
        if (result.mayRetry === true) return [];
        return [finishedRecord({ eventId, before: records.get(eventId) }, 1, result)];
      });
      queue.writeRecords(transaction, tenantId, finished);
      return results;
    });
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  private noting(transaction: Transaction): Transaction {
    return {
      usesOneWorkspaceForms: transaction.usesOneWorkspaceForms,
      send: (statement, values) => {
        this.sent.push(statement.name);
        return transaction.send(statement, values);
      },
      sendLast: (statement, values) => transaction.sendLast(statement, values),
      beforeCommit: (steps) => transaction.beforeCommit(steps),
      afterCommit: (listener) => transaction.afterCommit(listener),
    };
  }
}

function isNotTriedAgain({ outcome }: ReactionRecord): boolean {
  return outcome === 'applied' || outcome === 'waiting_for_customer';
}

/** Results in one line each: `name outcome reason`. */
export function summaryOf(result: EffectResult | undefined): string[] {
  return (result?.reactions ?? []).map(({ name, outcome, reason }) =>
    [name, outcome, reason].filter(Boolean).join(' '),
  );
}
