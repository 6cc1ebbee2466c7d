import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Statement } from '../../platform/postgres/statement';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { failIfAny } from '../../platform/postgres/precondition';
import { distinctKinds, kindName, type EventKind } from '../domain/event';

/** Kinds; one takes some 100 bytes. */
const REMEMBERED_MAX = 10_000;
/** That a kind has subscribers is never confirmed: after this time it is looked up again. */
const SUBSCRIBED_MS = 10_000;

/**
 * Knows which kinds of events have subscribers, such as reactions. Ingest does not know the subscribers: each feature adds a
 * query. Without any query every event counts as subscribed.
 */
@Injectable()
export class EventSubscriptions {
  private texts: readonly string[] = [];
  /** All queries in one statement, and as a precondition. */
  private query: { readonly find: Statement; readonly failIfAny: Statement } | undefined;
  /** Whether a kind had subscribers when this node last looked. */
  private readonly remembered = new LRUCache<string, boolean>({ max: REMEMBERED_MAX });

  /**
   * Adds a query for subscribers, while the application starts. Of the workspaces $1 (uuid[]) and, beside each, a type of events
   * $2 (text[]), the statement returns the `position`, from 1, of each pair that has subscribers. Its form for one workspace is made
   * from the text (platform/postgres/one-workspace.ts). All queries are sent as one: a statement costs a batch more than what it
   * reads here.
   */
  addQuery({ text }: Statement): void {
    this.texts = [...this.texts, text];
    // Each text needs a name of its own.
    const find = { name: `ingest_find_subscribed_${this.texts.length}`, text: this.texts.join('\n    UNION ALL\n') };
    this.query = { find, failIfAny: failIfAny(find) };
  }

  /** The names (`kindName`) of the kinds that have subscribers, by what the transaction sees now. */
  async of(transaction: Transaction, kinds: readonly EventKind[]): Promise<ReadonlySet<string>> {
    const distinct = distinctKinds(kinds);
    if (distinct.length === 0) return new Set();
    if (this.query === undefined) return new Set(distinct.map(kindName));
    const found = await transaction.send<{ position: string }>(this.query.find, columns(distinct));
    const subscribed = new Set(found.flatMap(({ position }) => distinct[Number(position) - 1] ?? []).map(kindName));
    for (const name of distinct.map(kindName)) {
      if (subscribed.has(name)) this.remembered.set(name, true, { ttl: SUBSCRIBED_MS });
      else this.remembered.set(name, false);
    }
    return subscribed;
  }

  /**
   * Whether a kind had subscribers when this node last looked; undefined when it has not looked lately. A caller that relies on
   * `false` has it confirmed (`assertNoSubscribers`). An event that is queued although nothing is subscribed does no harm.
   */
  hasSubscribers(kind: EventKind): boolean | undefined {
    return this.remembered.get(kindName(kind));
  }

  /** Makes it a precondition of the transaction (platform/postgres/precondition.ts) that these kinds still have no subscribers. */
  assertNoSubscribers(transaction: Transaction, kinds: readonly EventKind[]): void {
    if (kinds.length > 0 && this.query !== undefined) transaction.sendLast(this.query.failIfAny, columns(kinds));
  }
}

function columns(kinds: readonly EventKind[]): [string[], string[]] {
  return [kinds.map(({ tenantId }) => tenantId), kinds.map(({ eventType }) => eventType)];
}
