import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Statement, Transaction } from '../../platform/postgres/pipelined-connection';
import { failIfAny } from '../../platform/postgres/precondition';
import { distinctKinds, kindName, type EventKind } from './event-kind';

/** Kinds; one takes some 100 bytes. */
const REMEMBERED_MAX = 10_000;
/** That somebody waits is not confirmed when it is gone by: after this time it is looked for again. */
const SUBSCRIBED_MS = 10_000;

/**
 * Knows whether anybody waits for an event. The log knows nothing of those who do: they have to be asked, and as long as nobody
 * says how, every event is waited for.
 */
@Injectable()
export class EventSubscriptions {
  private readonly questions: { readonly find: Statement; readonly failIfAny: Statement }[] = [];
  /** Whether somebody waited when this node last looked. */
  private readonly remembered = new LRUCache<string, boolean>({ max: REMEMBERED_MAX });

  /**
   * Adds a way to find those who wait, while the application starts: of the workspaces $1 (uuid[]) and, beside each, a type of events
   * $2 (text[]), the statement answers the `position`, from 1, of each pair whose events anything may be done with.
   */
  addQuery(find: Statement): void {
    this.questions.push({ find, failIfAny: failIfAny(find) });
  }

  /** The names of the kinds (`kindName`) whose events somebody waits for, by what the transaction sees now. */
  async of(transaction: Transaction, kinds: readonly EventKind[]): Promise<ReadonlySet<string>> {
    const distinct = distinctKinds(kinds);
    const answers = await Promise.all(
      this.questions.map(({ find }) => transaction.send<{ position: string }>(find, columns(distinct))),
    );
    const subscribed = new Set(
      answers.flatMap((rows) => rows.flatMap(({ position }) => distinct[Number(position) - 1] ?? [])).map(kindName),
    );
    if (this.questions.length === 0) return new Set(distinct.map(kindName));
    for (const name of distinct.map(kindName)) {
      if (subscribed.has(name)) this.remembered.set(name, true, { ttl: SUBSCRIBED_MS });
      else this.remembered.set(name, false);
    }
    return subscribed;
  }

  /**
   * Whether somebody waited for events of a kind when this node last looked, if it has lately. Whoever goes by `false` has it
   * confirmed (`assertNoSubscribers`); an event that nobody waits for any more may be queued as if somebody did.
   */
  hasSubscribers(kind: EventKind): boolean | undefined {
    return this.remembered.get(kindName(kind));
  }

  /** The transaction's precondition (platform/postgres/precondition.ts) is that there still is nobody. */
  assertNoSubscribers(transaction: Transaction, kinds: readonly EventKind[]): void {
    if (kinds.length === 0) return;
    for (const question of this.questions) transaction.sendLast(question.failIfAny, columns(kinds));
  }
}

function columns(kinds: readonly EventKind[]): [string[], string[]] {
  return [kinds.map(({ tenantId }) => tenantId), kinds.map(({ eventType }) => eventType)];
}
