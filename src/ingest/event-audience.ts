import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/pipelined-connection';
import { distinctKinds, kindName, type EventKind } from './domain/event-kind';

/** Answers those kinds whose events anything may be done with, by what the transaction sees now. */
export type AudienceQuestion = (transaction: Transaction, kinds: readonly EventKind[]) => Promise<readonly EventKind[]>;

/**
 * Knows whether anybody waits for an event. The log knows nothing of those who do: they have to be asked, and as long as nobody
 * answers, every event is waited for.
 */
@Injectable()
export class EventAudience {
  private question: AudienceQuestion = (_transaction, kinds) => Promise.resolve(kinds);

  /** To be called while the application starts. */
  answeredBy(question: AudienceQuestion): void {
    this.question = question;
  }

  /** The names of the kinds (`kindName`) whose events somebody waits for. */
  async of(transaction: Transaction, kinds: readonly EventKind[]): Promise<ReadonlySet<string>> {
    return new Set((await this.question(transaction, distinctKinds(kinds))).map(kindName));
  }
}
