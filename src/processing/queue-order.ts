import { Injectable } from '@nestjs/common';
import type { HeldCustomer } from '../identity/domain/held-customer';
import { IdentityService } from '../identity/identity.service';
import { isEarlier, shardOf, type EntryKey, type QueuePlace } from '../ingest/domain/queue-place';
import { EventQueue, type LoggedEvent, type QueuedKey } from '../ingest/event-queue';
import type { Transaction } from '../platform/database/pipelined-connection';
import { arrangeEntries, type Arrangement } from './domain/arrange-entries';
import type { EventToProcess } from './domain/event-effects';
import { ParkedEvents } from './parked-events';

/** An entry with all that its processing takes. */
export interface ReadyEntry extends QueuedKey {
  /** The customer that the event belongs to now. */
  readonly rootId: string;
  /** Of an erased person nothing is done any more. */
  readonly isErased: boolean;
  readonly toProcess: EventToProcess;
}

type EntryWithEvent = QueuedKey & { readonly event: LoggedEvent };
type KnownCustomers = ReadonlyMap<string, HeldCustomer>;

/**
 * In which order entries may be processed. Those of a profile lie in one place in their order; a customer that was merged has
 * entries of several profiles, so whoever is about to process one looks whether there are earlier ones elsewhere.
 */
@Injectable()
export class QueueOrder {
  constructor(
    private readonly identity: IdentityService,
    private readonly queue: EventQueue,
    private readonly parked: ParkedEvents,
  ) {}

  /** Which of the next entries of a place may be processed. `held`: see `arrangeEntries`. */
  async arrange(
    transaction: Transaction,
    place: QueuePlace,
    entries: readonly EntryWithEvent[],
    held: Set<string>,
  ): Promise<Arrangement<ReadyEntry>> {
    const { tenantId } = place;
    const profiles = [...new Set(entries.map(({ queuedFor }) => queuedFor))];
    const [customers, firstParked] = await Promise.all([
      this.customersOf(transaction, tenantId, entries),
      this.parked.firstOf(transaction, tenantId, profiles),
    ]);
    const firsts = await this.firstsOfOthers(transaction, place, entries, customers);
    return arrangeEntries(
      entries.map((entry) => readyEntry(tenantId, entry, customers)),
      { firstParked, firstElsewhere: ({ queuedFor, rootId }) => earliest(firsts.get(rootId), queuedFor) },
      held,
    );
  }

  /** A parked entry with all that its processing takes; undefined while there are earlier ones of its customer. */
  async retriable(transaction: Transaction, tenantId: string, entry: EntryWithEvent): Promise<ReadyEntry | undefined> {
    const customers = await this.customersOf(transaction, tenantId, [entry]);
    const ready = readyEntry(tenantId, entry, customers);
    const members = new Set([...(customers.get(entry.event.profileId)?.profileIds ?? []), entry.queuedFor]);
    const [queued, parked] = await Promise.all([
      this.queue.firstOf(transaction, tenantId, [...members]),
      this.parked.firstOf(transaction, tenantId, [...members]),
    ]);
    const earlier = [...queued, ...parked.values()].some((key) => isEarlier(key, entry));
    return earlier ? undefined : ready;
  }

  /** An event without a place in the queue. */
  async outOfOrder(transaction: Transaction, tenantId: string, event: LoggedEvent): Promise<ReadyEntry> {
    const entry = { queuedAt: '', position: 0, eventId: event.eventId, queuedFor: event.profileId, event };
    return readyEntry(tenantId, entry, await this.customersOf(transaction, tenantId, [entry]));
  }

  private customersOf(
    transaction: Transaction,
    tenantId: string,
    entries: readonly EntryWithEvent[],
  ): Promise<KnownCustomers> {
    const profiles = new Set(entries.map(({ event }) => event.profileId));
    return this.identity.holdCustomers(transaction, tenantId, [...profiles]);
  }

  /** By root, the first entries of each profile of a merged customer, as far as they are not in this place's own order. */
  private async firstsOfOthers(
    transaction: Transaction,
    place: QueuePlace,
    entries: readonly EntryWithEvent[],
    customers: KnownCustomers,
  ): Promise<Map<string, Map<string, EntryKey>>> {
    const rootOf = new Map<string, string>();
    for (const { event, queuedFor } of entries) {
      const customer = customers.get(event.profileId);
      for (const id of customer?.profileIds ?? []) {
        if (id !== queuedFor) rootOf.set(id, customer?.rootId ?? id);
      }
    }
    const firsts = new Map<string, Map<string, EntryKey>>();
    if (rootOf.size === 0) return firsts;
    const elsewhere = [...rootOf.keys()].filter((id) => shardOf(id) !== place.shard);
    const [queued, parked] = await Promise.all([
      this.queue.firstOf(transaction, place.tenantId, elsewhere),
      this.parked.firstOf(transaction, place.tenantId, [...rootOf.keys()]),
    ]);
    const note = (profileId: string, key: EntryKey): void => {
      const rootId = rootOf.get(profileId) ?? profileId;
      const ofRoot = firsts.get(rootId) ?? new Map<string, EntryKey>();
      const known = ofRoot.get(profileId);
      firsts.set(rootId, ofRoot.set(profileId, known !== undefined && isEarlier(known, key) ? known : key));
    };
    for (const { profileId, ...key } of queued) note(profileId, key);
    for (const [profileId, key] of parked) note(profileId, key);
    return firsts;
  }
}

function readyEntry(tenantId: string, { event, ...key }: EntryWithEvent, customers: KnownCustomers): ReadyEntry {
  const customer = customers.get(event.profileId);
  const rootId = customer?.rootId ?? event.profileId;
  const { queuedAt, position, eventId, queuedFor } = key;
  return {
    ...{ queuedAt, position, eventId, queuedFor, rootId, isErased: customer?.isErased ?? true },
    toProcess: { tenantId, event: { ...event, profileId: rootId }, externalId: customer?.externalId ?? null },
  };
}

/** The earliest of the profiles other than this one. */
function earliest(firsts: ReadonlyMap<string, EntryKey> | undefined, besides: string): EntryKey | undefined {
  let found: EntryKey | undefined;
  for (const [profileId, key] of firsts ?? []) {
    if (profileId !== besides && (found === undefined || isEarlier(key, found))) found = key;
  }
  return found;
}
