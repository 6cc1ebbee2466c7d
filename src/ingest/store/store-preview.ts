import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { Row } from '../../platform/postgres/statement';
import { ReadSlots } from '../../platform/rate-limit/read-slots';
import type { Outcome } from '../domain/outcome';
import type { IngestWork } from './store-results';
import { IngestTransaction } from './store-transaction';
import { settleCopies } from './settle-copies';

/** Tells what would become of events without storing anything (contract section 3, `dry_run`). */
@Injectable()
export class IngestPreview {
  constructor(
    private readonly database: DataSource,
    private readonly transaction: IngestTransaction,
    private readonly slots: ReadSlots,
  ) {}

  /** All of one workspace, among whose reads it takes a place. */
  async settle(works: readonly IngestWork[]): Promise<Outcome[]> {
    const [first] = works;
    return first === undefined ? [] : this.slots.run(first.tenantId, () => this.preview(works));
  }

  private async preview(works: readonly IngestWork[]): Promise<Outcome[]> {
    const runner = this.database.createQueryRunner();
    // Questions are asked side by side, and a client takes one at a time.
    let before: Promise<unknown> = Promise.resolve();
    const reads: Transaction = {
      send: async <T = Row>(statement: { text: string }, values: readonly unknown[]) => {
        const answer = before.then(() => runner.query(statement.text, [...values]));
        before = answer.catch(() => undefined);
        return (await answer) as T[];
      },
      sendLast: () => {
        throw new Error('A preview writes nothing');
      },
    };
    try {
      await runner.startTransaction();
      await runner.query('SET TRANSACTION READ ONLY');
      const earlier: IngestWork[] = [];
      return await settleCopies(works, async (unique) => {
        const outcomes = await this.transaction.preview(reads, unique, earlier);
        earlier.push(...unique.filter((_work, index) => outcomes[index]?.status === 'accepted'));
        return outcomes;
      });
    } finally {
      await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
    }
  }
}
