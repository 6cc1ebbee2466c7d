import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/postgres/statement';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { Event } from '../domain/event';

/**
 * What features store together with replayed events, which keep their first time of receipt: they come into a part of the log
 * that nothing else is added to. Each feature adds a statement, so that ingest knows none of them.
 */
@Injectable()
export class ReplayedEvents {
  private readonly statements: Statement[] = [];

  /** Adds a statement, while the application starts. It gets the workspaces $1 and, beside each, the id of an event $2 (uuid[]). */
  addStatement(statement: Statement): void {
    this.statements.push(statement);
  }

  /** Runs the statements for those of `events` that are replayed, along with COMMIT; all were stored by this transaction. */
  record(transaction: Transaction, events: readonly Event[]): void {
    const replayed = events.filter(({ submission }) => submission.replay !== undefined);
    if (replayed.length === 0) return;
    const values = [replayed.map(({ tenantId }) => tenantId), replayed.map(({ eventId }) => eventId)];
    for (const statement of this.statements) transaction.sendLast(statement, values);
  }
}
