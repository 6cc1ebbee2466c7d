import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { MutationWorkOutcome, MutationWork } from './domain/mutation-work';
import { rowsOf, settleMutations } from './domain/settle-mutations';
import { StateRepository } from './state.repository';

/**
 * Applies a batch of mutations in one transaction, or nothing of it: two round trips. Documents before outcomes: the
 * participant's own row is always locked, and it is what makes the repetitions of one id wait for one another.
 */
@Injectable()
export class MutationTransaction {
  constructor(private readonly states: StateRepository) {}

  /** May be run again with any of the same work after a failure, also when a commit's outcome is unknown. */
  async run(transaction: Transaction, batch: readonly MutationWork[]): Promise<readonly MutationWorkOutcome[]> {
    const rows = rowsOf(batch);
    const locked = await this.states.lock(transaction, rows.participants, rows.shared, rows.outcomes);
    const { outcomes, changes } = settleMutations(batch, locked);
    this.states.write(transaction, changes);
    return outcomes;
  }
}
