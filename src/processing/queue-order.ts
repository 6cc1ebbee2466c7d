import { Injectable } from '@nestjs/common';
import type { HeldCustomer, PartedProfiles } from '../identity/domain/known-identities';
import { IdentityService } from '../identity/identity.service';
import { isEarlier, shardOf, type EntryKey, type QueuePartition } from '../ingest/queue/queue-partition';
import type { LoggedEvent } from '../ingest/domain/event';
import { EventQueue, type QueuedKey } from '../ingest/queue/event-queue';
import type { ProcessingRecord, ReactionRecord } from '../ingest/queue/processing-record';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { arrangeEntries, type Arrangement } from './domain/arrange-entries';
import { eventToProcess, type EventToProcess } from './domain/event-effects';
import { ParkedEvents } from './parked-events';
import { WaitingEvents } from './waiting-events';

/** An entry with everything that processing it needs. */
export interface ReadyEntry extends QueuedKey {
  /** The event's own profile. */
  readonly profileId: string;
  /** The customer that the event belongs to now. */
  readonly rootId: string;
  /** Events of an erased person have no effects. */
  readonly isErased: boolean;
  /** The processing record so far; locked until the transaction ends. */
  readonly before: ProcessingRecord | undefined;
  readonly toProcess: EventToProcess;
}

/** The next entries by whether they may be processed now. `released`: partitions into which waiting events returned. */
export interface ArrangedEntries extends Arrangement<ReadyEntry> {
  readonly released: readonly QueuePartition[];
}

type EntryWithEvent = QueuedKey & { readonly event: LoggedEvent };
type KnownCustomers = ReadonlyMap<string, HeldCustomer>;
type FirstEntry = EntryKey & { readonly profileId: string };
/** By the other profile. */
type PartedByOther = ReadonlyMap<string, readonly PartedProfiles[]>;
/** By profile. */
type FirstKeys = ReadonlyMap<string, EntryKey>;
type FirstsOfRoots = Map<string, Map<string, EntryKey>>;

/** What leads from entries to those of other profiles. `leftOut`: see `arrange`. */
interface OtherProfiles {
  readonly customers: KnownCustomers;
  readonly parted: readonly PartedProfiles[];
  readonly leftOut: ReadonlySet<string>;
}

/**
 * Keeps the order of each customer's events. Entries of one profile are in one partition, in order. A merged customer
 * has entries of several profiles, so an entry is ready only if no other partition has an earlier one. An event that came
 * before a merge was undone is queued for the customer of then, so later ones wait for what was queued for the other side by
 * then. Events that waited for an EXTERNAL identifier of the customer return to the queue first.
 */
@Injectable()
export class QueueOrder {
  constructor(
    private readonly identity: IdentityService,
    private readonly queue: EventQueue,
    private readonly parked: ParkedEvents,
    private readonly waiting: WaitingEvents,
  ) {}

  /**
   * Decides which of the next entries of a partition may be processed. `held`: see `arrangeEntries`. `leftOut`: the
   * profiles for whom entries before these ones may not have been read.
   */
  async arrange(
    transaction: Transaction,
    partition: QueuePartition,
    entries: readonly EntryWithEvent[],
    { held, leftOut }: { readonly held: Set<string>; readonly leftOut: ReadonlySet<string> },
  ): Promise<ArrangedEntries> {
    const { tenantId } = partition;
    const profiles = [...new Set(entries.map(({ queuedFor }) => queuedFor))];
    const ofEvents = [...new Set(entries.map(({ event }) => event.profileId))];
    const own = [...new Set([...profiles, ...ofEvents])];
    // Customers first: after that, no event starts to wait for a customer who is linked here.
    const [customers, parted, firstParked, waitingAtOwn, recorded] = await Promise.all([
      this.customersOf(transaction, tenantId, entries),
      this.identity.partedFrom(transaction, tenantId, ofEvents),
      this.parked.firstOf(transaction, tenantId, profiles),
      this.waiting.firstOf(transaction, tenantId, own),
      this.queue.lockProcessing(
        transaction,
        tenantId,
        entries.map(({ eventId }) => eventId),
      ),
    ]);
    const { firsts, waitingAtOthers } = await this.firstsOfOthers(transaction, partition, entries, {
      customers,
      parted,
      leftOut,
    });
    const waiting = waitingForLinked(new Map([...waitingAtOwn, ...waitingAtOthers]), customers);
    const released = await this.releaseWaiting(transaction, partition, waiting);
    const arrangement = arrangeEntries(
      entries.map((entry) => readyEntry(tenantId, entry, customers, recorded.get(entry.eventId))),
      {
        firstParked,
        firstElsewhere: ({ queuedFor, rootId }) =>
          earlierOf(earliest(firsts.get(rootId), queuedFor), earliest(waiting.get(rootId))),
      },
      held,
    );
    return { ...arrangement, released };
  }

  /** A parked entry with everything that processing it needs; undefined while its customer has earlier entries. */
  async retriable(
    transaction: Transaction,
    partition: QueuePartition,
    entry: EntryWithEvent,
  ): Promise<ReadyEntry | undefined> {
    const { tenantId } = partition;
    const [customers, parted, recorded] = await Promise.all([
      this.customersOf(transaction, tenantId, [entry]),
      this.identity.partedFrom(transaction, tenantId, [entry.event.profileId]),
      this.queue.lockProcessing(transaction, tenantId, [entry.eventId]),
    ]);
    const ready = readyEntry(tenantId, entry, customers, recorded.get(entry.eventId));
    const partedFrom = byOther(parted);
    const members = new Set([...(customers.get(entry.event.profileId)?.profileIds ?? []), entry.queuedFor]);
    const [waitingAt, entriesOf] = await Promise.all([
      this.waiting.firstOf(transaction, tenantId, [...members]),
      this.firstEntries(transaction, tenantId, [...members, ...partedFrom.keys()]),
    ]);
    const waiting = waitingForLinked(waitingAt, customers);
    await this.releaseWaiting(transaction, partition, waiting);
    const ofCustomer = entriesOf.filter(
      (each) => members.has(each.profileId) || partedSince(partedFrom, each).length > 0,
    );
    const others = [...ofCustomer, ...(waiting.get(ready.rootId)?.values() ?? [])];
    return others.some((key) => isEarlier(key, entry)) ? undefined : ready;
  }

  /**
   * An event that is not in the queue, at the place of its receipt; `before`: its locked record. Failed reactions are tried
   * again, and skipped ones whose reason may have gone.
   */
  async entryForReplay(
    transaction: Transaction,
    tenantId: string,
    event: LoggedEvent,
    before?: ProcessingRecord,
  ): Promise<ReadyEntry> {
    const entry = { ...placeOfReceipt(event, 0), event };
    const customers = await this.customersOf(transaction, tenantId, [entry]);
    const ready = readyEntry(tenantId, entry, customers, before);
    const recorded = ready.toProcess.recorded.filter(isKeptByReplay);
    return { ...ready, toProcess: { ...ready.toProcess, recorded } };
  }

  /** Returns some events that waited for customers who are linked now to the queue; returns their partitions. */
  private async releaseWaiting(
    transaction: Transaction,
    partition: QueuePartition,
    waiting: FirstsOfRoots,
  ): Promise<QueuePartition[]> {
    const profileIds = [...waiting.values()].flatMap((ofRoot) => [...ofRoot.keys()]);
    return profileIds.length === 0 ? [] : this.waiting.release(transaction, partition, profileIds);
  }

  private customersOf(
    transaction: Transaction,
    tenantId: string,
    entries: readonly EntryWithEvent[],
  ): Promise<KnownCustomers> {
    const profiles = new Set(entries.map(({ event }) => event.profileId));
    return this.identity.holdCustomers(transaction, tenantId, [...profiles]);
  }

  /**
   * By root, the first entry of each other profile of a merged customer, and of each that was parted from it, queued or parked;
   * and the events that wait at the customer's. The queue is read after the waiting events, so that an event released
   * meanwhile is seen in one of the two.
   */
  private async firstsOfOthers(
    transaction: Transaction,
    partition: QueuePartition,
    entries: readonly EntryWithEvent[],
    { customers, parted, leftOut }: OtherProfiles,
  ): Promise<{ readonly firsts: FirstsOfRoots; readonly waitingAtOthers: FirstKeys }> {
    const rootOf = new Map<string, string>();
    for (const { event, queuedFor } of entries) {
      const customer = customers.get(event.profileId);
      for (const id of customer?.profileIds ?? []) {
        if (id !== queuedFor) rootOf.set(id, customer?.rootId ?? id);
      }
    }
    const firsts: FirstsOfRoots = new Map();
    const partedFrom = byOther(parted);
    const others = new Set([...rootOf.keys(), ...partedFrom.keys()]);
    if (others.size === 0) return { firsts, waitingAtOthers: new Map() };
    const isRead = (id: string): boolean => shardOf(id) === partition.shard && !leftOut.has(id);
    const [waitingAtOthers, found] = await Promise.all([
      this.waiting.firstOf(transaction, partition.tenantId, [...rootOf.keys()]),
      this.firstEntries(transaction, partition.tenantId, [...others], isRead),
    ]);
    const note = (rootId: string, { profileId, ...key }: FirstEntry): void => {
      const ofRoot = firsts.get(rootId) ?? new Map<string, EntryKey>();
      const known = ofRoot.get(profileId);
      firsts.set(rootId, ofRoot.set(profileId, known !== undefined && isEarlier(known, key) ? known : key));
    };
    for (const entry of found) {
      const rootId = rootOf.get(entry.profileId);
      if (rootId !== undefined) note(rootId, entry);
      for (const { profileId } of partedSince(partedFrom, entry)) {
        note(customers.get(profileId)?.rootId ?? profileId, entry);
      }
    }
    return { firsts, waitingAtOthers };
  }

  /** The first entries of profiles, in the queue and parked. `isRead`: for whom the caller has read the queue. */
  private async firstEntries(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
    isRead: (profileId: string) => boolean = () => false,
  ): Promise<readonly FirstEntry[]> {
    const inQueue = profileIds.filter((id) => !isRead(id));
    const [queued, parked] = await Promise.all([
      this.queue.firstOf(transaction, tenantId, inQueue),
      this.parked.firstOf(transaction, tenantId, profileIds),
    ]);
    return [...queued, ...[...parked].map(([profileId, key]) => ({ profileId, ...key }))];
  }
}

function byOther(parted: readonly PartedProfiles[]): PartedByOther {
  const found = new Map<string, PartedProfiles[]>();
  for (const each of parted) {
    const ofOther = found.get(each.otherId);
    if (ofOther === undefined) found.set(each.otherId, [each]);
    else ofOther.push(each);
  }
  return found;
}

/** Those whose merge with the profile of an entry was undone after it was queued: the entry may be about the customer of before. */
function partedSince(partedFrom: PartedByOther, { profileId, queuedAt }: FirstEntry): readonly PartedProfiles[] {
  return (partedFrom.get(profileId) ?? []).filter(({ until }) => queuedAt < until);
}

/** The place of an event by its receipt, among events that wait for their customers. */
export function placeOfReceipt({ eventId, profileId, receivedAt }: LoggedEvent, position: number): QueuedKey {
  return { queuedAt: `${receivedAt.toISOString().slice(0, -1)}000Z`, position, eventId, queuedFor: profileId };
}

/** What a backfill has left out stays out: a replay would set what a later event has set, or count in a later period. */
function isKeptByReplay({ outcome, reason }: ReactionRecord): boolean {
  if (outcome === 'skipped') return reason === 'superseded' || reason === 'period_over';
  return outcome !== 'failed';
}

/** An entry with its customer and its record; `customers`: those of its profile, held until the transaction ends. */
export function readyEntry(
  tenantId: string,
  { event, ...key }: EntryWithEvent,
  customers: KnownCustomers,
  before: ProcessingRecord | undefined,
): ReadyEntry {
  const customer = customers.get(event.profileId);
  const rootId = customer?.rootId ?? event.profileId;
  const { queuedAt, position, eventId, queuedFor } = key;
  return {
    queuedAt,
    position,
    eventId,
    queuedFor,
    profileId: event.profileId,
    rootId,
    before,
    isErased: customer?.isErased ?? true,
    toProcess: eventToProcess(tenantId, event, { rootId, externalId: customer?.externalId ?? null }, before?.reactions),
  };
}

/** The events that waited for customers who have an EXTERNAL identifier now, by root. */
function waitingForLinked(waiting: FirstKeys, customers: KnownCustomers): FirstsOfRoots {
  const linked: FirstsOfRoots = new Map();
  if (waiting.size === 0) return linked;
  for (const { rootId, externalId, profileIds } of customers.values()) {
    if (externalId === null || linked.has(rootId)) continue;
    const ofCustomer = profileIds.flatMap((id): [string, EntryKey][] => {
      const key = waiting.get(id);
      return key === undefined ? [] : [[id, key]];
    });
    if (ofCustomer.length > 0) linked.set(rootId, new Map(ofCustomer));
  }
  return linked;
}

/** The earliest key of the profiles, without the excluded one. */
function earliest(firsts: FirstKeys | undefined, excluded?: string): EntryKey | undefined {
  let found: EntryKey | undefined;
  for (const [profileId, key] of firsts ?? []) if (profileId !== excluded) found = earlierOf(found, key);
  return found;
}

function earlierOf(a: EntryKey | undefined, b: EntryKey | undefined): EntryKey | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isEarlier(b, a) ? b : a;
}
