import { Inject, Injectable } from '@nestjs/common';
import { DataSource, type QueryRunner } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { Row, Statement } from '../../platform/postgres/statement';
import { ReadSlots } from '../../platform/rate-limit/read-slots';
import type { Event } from '../domain/event';
import type { IngestResult } from '../domain/ingest-result';
import { storeCopies } from './copies-in-batch';
import { StoreTransaction } from './store-transaction';

/** Finds the results that storing events would have, and stores nothing (contract section 3, `dry_run`). */
@Injectable()
export class DryRunStore {
  constructor(
    private readonly database: DataSource,
    private readonly transaction: StoreTransaction,
    private readonly slots: ReadSlots,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /** All events are of one workspace; the call counts among the reads of it. */
  async store(events: readonly Event[]): Promise<readonly IngestResult[]> {
    const [first] = events;
    return first === undefined ? [] : this.slots.run(first.tenantId, () => this.preview(events));
  }

  private async preview(events: readonly Event[]): Promise<readonly IngestResult[]> {
    const runner = this.database.createQueryRunner();
    const reads = oneByOne(runner, this.connection);
    try {
      await runner.startTransaction();
      await runner.query('SET TRANSACTION READ ONLY');
      const earlier: Event[] = [];
      return await storeCopies(events, async (unique) => {
        const results = await this.transaction.preview(reads, unique, earlier);
        earlier.push(...unique.filter((_event, index) => results[index]?.status === 'accepted'));
        return results;
      });
    } finally {
      await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
    }
  }
}

const writesNothing = (): never => {
  throw new Error('A dry run writes nothing');
};

/** A transaction whose statements are sent side by side; the client of `runner` takes one at a time. */
function oneByOne(runner: QueryRunner, connection: ConnectionSettings): Transaction {
  let before: Promise<unknown> = Promise.resolve();
  return {
    usesOneWorkspaceForms: connection.isOneWorkspace === true,
    send: async <T = Row>(statement: Statement, values: readonly unknown[]) => {
      const answer = before.then(() => runner.query(...queryOf(statement, values, connection)));
      before = answer.catch(() => undefined);
      return (await answer) as T[];
    },
    sendLast: writesNothing,
    beforeCommit: writesNothing,
    afterCommit: writesNothing,
  };
}
