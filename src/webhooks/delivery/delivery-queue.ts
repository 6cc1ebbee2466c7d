import { Injectable } from '@nestjs/common';
import { EventQueue } from '../../ingest/queue/event-queue';
import type { HeldCustomer } from '../../identity/domain/known-identities';
import { IdentityService } from '../../identity/identity.service';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { HOLD_CHANGES, READ_WEBHOOK_CHANGES } from '../change.sql';
import type { ChangeContent, ChangeToSend } from '../domain/change-delivery';
import type { ClaimedDelivery, DeliverySubject, DueEndpoint, QueueKey } from './claimed-delivery';
import type { DeliveryResult } from './delivery-result';
import * as sql from './delivery.sql';
import { EndpointHealth } from './endpoint-health';

/** How long a claim lasts: twice as long as an attempt. A killed process's deliveries are sent again after it. */
export const CLAIM_MS = 30_000;
/** A queue that waits for an earlier delivery of its customer looks again after so long, at the latest. */
const BLOCKED_MS_MAX = 30_000;
/** The same while that delivery is being sent: its end wakes the queue, unless both happen at one time in two processes. */
const BLOCKED_BY_CALL_MS = 5_000;
const BLOCKED_MS_MIN = 1_000;

interface ClaimedQueue extends QueueKey {
  readonly doneSeq: string;
  readonly failures: number;
}

interface FirstDelivery {
  readonly number: string;
  readonly eventId: string;
  readonly seq: string;
  readonly firstAttemptAt: Date | null;
  readonly isChange: boolean;
}

interface ChangeRow {
  readonly id: string;
  readonly subject: string;
  readonly change: ChangeContent;
}

/** Customers by `customerKey`. */
type Customers = ReadonlyMap<string, HeldCustomer>;

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

interface FirstOfOther {
  readonly number: string;
  readonly seq: string;
  readonly isClaimed: boolean;
  readonly untilDueMs: number;
}

/** The queues of deliveries in the database, shared by all dispatchers. */
@Injectable()
export class DeliveryQueue {
  constructor(
    private readonly identity: IdentityService,
    private readonly events: EventQueue,
    private readonly health: EndpointHealth,
  ) {}

  /**
   * Claims up to so many queues of each endpoint. Returns the first delivery of each, in the order of each customer: a
   * queue of a merged customer waits while another one has an earlier delivery.
   */
  async claim(
    transaction: Transaction,
    wanted: readonly { readonly endpoint: DueEndpoint; readonly most: number }[],
    claimId: string,
  ): Promise<ClaimedDelivery[]> {
    const claimed = await transaction.send<ClaimedQueue>(sql.CLAIM_QUEUES, [
      wanted.map(({ endpoint }) => endpoint.tenantId),
      wanted.map(({ endpoint }) => endpoint.endpointId),
      wanted.map(({ most }) => most),
      claimId,
      CLAIM_MS,
    ]);
    if (claimed.length === 0) return [];
    const firsts = await transaction.send<FirstDelivery>(sql.FIRST_DELIVERIES, [
      ...keysOf(claimed),
      claimed.map(({ doneSeq }) => doneSeq),
    ]);
    const byNumber = new Map(firsts.map((first) => [Number(first.number) - 1, first]));
    const empty = claimed.filter((_queue, index) => !byNumber.has(index));
    if (empty.length > 0) transaction.sendLast(sql.REMOVE_EMPTY, keysOf(inKeyOrder(empty)));
    const deliveries: ClaimedDelivery[] = [];
    for (const tenantId of new Set(claimed.map((queue) => queue.tenantId))) {
      const own = claimed.flatMap((queue, index) => {
        const first = byNumber.get(index);
        return queue.tenantId === tenantId && first !== undefined ? [{ queue, first }] : [];
      });
      deliveries.push(...(await this.complete(transaction, tenantId, own, claimId)));
    }
    return this.withoutBlocked(transaction, deliveries);
  }

  /**
   * Stores results and ends the claims. Results of claims that were lost to another process are dropped: it sends them
   * again.
   */
  async finish(transaction: Transaction, results: readonly DeliveryResult[], now: Date): Promise<void> {
    const sorted = results.toSorted((a, b) => (keyOf(a.delivery) < keyOf(b.delivery) ? -1 : 1));
    const held = await transaction.send<{ number: string }>(sql.HOLD_CLAIMS, [
      ...keysOf(sorted.map(({ delivery }) => delivery)),
      sorted.map(({ delivery }) => delivery.claimId),
    ]);
    const claimed = held.flatMap(({ number }) => sorted[Number(number) - 1] ?? []);
    if (claimed.length === 0) return;
    const customers = await this.customersNow(transaction, claimed);
    const ours = await this.withoutErased(transaction, claimed, customers);
    const queues = ours.map(({ delivery }) => delivery);
    const [tenantIds, endpointIds, profileIds] = keysOf(queues);
    transaction.sendLast(sql.RECORD_ATTEMPTS, [
      tenantIds,
      endpointIds,
      queues.map(({ eventId }) => eventId),
      ours.map(({ state }) => state),
      ours.map(({ attempt }) => (attempt === null ? null : JSON.stringify(attempt))),
      ours.map(({ reason }) => reason),
    ]);
    transaction.sendLast(sql.RELEASE_QUEUES, [
      tenantIds,
      endpointIds,
      profileIds,
      ours.map(({ state, delivery }) => (state === 'pending' ? '0' : delivery.seq)),
      ours.map(failuresAfter),
      ours.map(({ state, delayMs }) => (state === 'pending' ? delayMs : 0)),
    ]);
    transaction.sendLast(sql.REMOVE_EMPTY, [tenantIds, endpointIds, profileIds]);
    this.wakeOthers(transaction, ours, customers);
    await this.health.record(transaction, ours, now);
  }

  /** Adds what is sent to the claimed deliveries of one workspace: events with their customers, and changes. */
  private async complete(
    transaction: Transaction,
    tenantId: string,
    own: readonly { readonly queue: ClaimedQueue; readonly first: FirstDelivery }[],
    claimId: string,
  ): Promise<ClaimedDelivery[]> {
    const ofEvents = own.filter(({ first }) => !first.isChange);
    const ofChanges = own.filter(({ first }) => first.isChange);
    const profileIds = [...new Set(ofEvents.map(({ queue }) => queue.profileId))];
    const [customers, events, changes] = await Promise.all([
      profileIds.length === 0 ? NOTHING : this.identity.holdCustomers(transaction, tenantId, profileIds),
      profileIds.length === 0 ? NOTHING : this.events.events(transaction, tenantId, idsOf(ofEvents)),
      this.readChanges(transaction, tenantId, idsOf(ofChanges)),
    ]);
    return own.map(({ queue: { endpointId, profileId, failures }, first }) => {
      const { eventId, seq, firstAttemptAt } = first;
      const subject: DeliverySubject = first.isChange
        ? { kind: 'change', change: changes.get(eventId) }
        : { kind: 'event', event: events.get(eventId), customer: customers.get(profileId) };
      return { tenantId, endpointId, profileId, claimId, eventId, seq, failures, firstAttemptAt, subject };
    });
  }

  private async readChanges(
    transaction: Transaction,
    tenantId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ChangeToSend>> {
    if (ids.length === 0) return NOTHING;
    const rows = await transaction.send<ChangeRow>(READ_WEBHOOK_CHANGES, [ids.map(() => tenantId), ids]);
    return new Map(rows.map(({ id, subject, change }) => [id, { id, subject, content: change }]));
  }

  /** Gives back the claims of queues whose customer has an earlier delivery in another queue. */
  private async withoutBlocked(
    transaction: Transaction,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<ClaimedDelivery[]> {
    const others = deliveries.flatMap((delivery, index) =>
      delivery.subject.kind === 'change'
        ? []
        : otherProfilesOf(delivery, delivery.subject.customer).map((profileId) => ({ ...delivery, profileId, index })),
    );
    if (others.length === 0) return [...deliveries];
    const found = await transaction.send<FirstOfOther>(sql.FIRST_OF_OTHERS, keysOf(others));
    const delays = new Map<number, number>();
    for (const { number, seq, isClaimed, untilDueMs } of found) {
      const other = others[Number(number) - 1];
      const delivery = deliveries[other?.index ?? -1];
      if (other === undefined || delivery === undefined || !isBefore([seq, other.profileId], delivery)) continue;
      delays.set(other.index, isClaimed ? BLOCKED_BY_CALL_MS : Math.min(BLOCKED_MS_MAX, untilDueMs + BLOCKED_MS_MIN));
    }
    const blocked = deliveries.filter((_delivery, index) => delays.has(index));
    if (blocked.length > 0) {
      transaction.sendLast(sql.RELEASE_QUEUES, [
        ...keysOf(blocked),
        blocked.map(() => '0'),
        blocked.map(({ failures }) => failures),
        [...delays.entries()].toSorted(([a], [b]) => a - b).map(([, delayMs]) => Math.round(delayMs)),
      ]);
    }
    return deliveries.filter((_delivery, index) => !delays.has(index));
  }

  /** The customers of results about events, by profile: a merge or an erasure may have come during a call. */
  private async customersNow(transaction: Transaction, results: readonly DeliveryResult[]): Promise<Customers> {
    const ofEvents = results.flatMap(({ delivery }) => (delivery.subject.kind === 'event' ? [delivery] : []));
    const customers = new Map<string, HeldCustomer>();
    for (const tenantId of new Set(ofEvents.map((delivery) => delivery.tenantId))) {
      const own = ofEvents.filter((delivery) => delivery.tenantId === tenantId);
      const profileIds = [...new Set(own.map(({ profileId }) => profileId))];
      const held = await this.identity.holdCustomers(transaction, tenantId, profileIds);
      for (const [profileId, customer] of held) customers.set(customerKey({ tenantId, profileId }), customer);
    }
    return customers;
  }

  /** Answers may repeat what was sent: of a person who was erased during the call nothing is stored. */
  private async withoutErased(
    transaction: Transaction,
    results: readonly DeliveryResult[],
    customers: Customers,
  ): Promise<readonly DeliveryResult[]> {
    const answered = results.filter(({ attempt }) => attempt !== null && attempt.answer !== '');
    // A change of a participant's own value is deleted with its queue; such a result has lost its claim.
    const ofPersons = answered.filter(({ delivery: { subject } }) => subject.kind === 'change' && isPersonal(subject));
    const held =
      ofPersons.length === 0
        ? []
        : await transaction.send<{ id: string }>(HOLD_CHANGES, [
            ofPersons.map(({ delivery }) => delivery.tenantId),
            ofPersons.map(({ delivery }) => delivery.eventId),
          ]);
    const changeIds = new Set(held.map(({ id }) => id));
    const erased = new Set([
      ...answered.filter(
        ({ delivery }) => delivery.subject.kind === 'event' && customers.get(customerKey(delivery))?.isErased !== false,
      ),
      ...ofPersons.filter(({ delivery }) => !changeIds.has(delivery.eventId)),
    ]);
    return results.map((result) =>
      result.attempt !== null && erased.has(result)
        ? { ...result, attempt: { ...result.attempt, answer: '' } }
        : result,
    );
  }

  /** Queues of the same customers may have waited for these: of those that were merged during the calls, too. */
  private wakeOthers(transaction: Transaction, results: readonly DeliveryResult[], customers: Customers): void {
    const others = results
      .filter(({ state }) => state !== 'pending')
      .flatMap(({ delivery }) =>
        otherProfilesOf(delivery, customers.get(customerKey(delivery))).map((profileId) => ({
          ...delivery,
          profileId,
        })),
      );
    if (others.length > 0) transaction.sendLast(sql.WAKE_QUEUES, keysOf(inKeyOrder(others)));
  }
}

/** An attempt that was cut off by the end of the process is none. */
function failuresAfter({ state, attempt, delivery }: DeliveryResult): number {
  if (state !== 'pending') return 0;
  return attempt === null ? delivery.failures : delivery.failures + 1;
}

/** Profiles of the same customer, which have queues of their own. */
function otherProfilesOf({ profileId }: QueueKey, customer: HeldCustomer | undefined): readonly string[] {
  if (customer === undefined || customer.isErased) return [];
  return customer.profileIds.filter((id) => id !== profileId);
}

function customerKey({ tenantId, profileId }: Pick<QueueKey, 'tenantId' | 'profileId'>): string {
  return `${tenantId}/${profileId}`;
}

/** Whether the change names a participant. */
function isPersonal({ change }: Extract<DeliverySubject, { kind: 'change' }>): boolean {
  return change !== undefined && change.subject !== '';
}

function idsOf(own: readonly { readonly first: FirstDelivery }[]): string[] {
  return [...new Set(own.map(({ first }) => first.eventId))];
}

function isBefore([seq, profileId]: readonly [string, string], { seq: own, profileId: ownProfile }: FirstKey): boolean {
  const difference = Number(BigInt(seq) - BigInt(own));
  return difference < 0 || (difference === 0 && profileId < ownProfile);
}

type FirstKey = Pick<ClaimedDelivery, 'seq' | 'profileId'>;

function keysOf(queues: readonly QueueKey[]): [string[], string[], string[]] {
  return [
    queues.map(({ tenantId }) => tenantId),
    queues.map(({ endpointId }) => endpointId),
    queues.map(({ profileId }) => profileId),
  ];
}

/** In one order everywhere, so that two transactions that lock queues do not wait for each other. */
function inKeyOrder<Queue extends QueueKey>(queues: readonly Queue[]): Queue[] {
  const distinct = new Map(queues.map((queue) => [keyOf(queue), queue]));
  return [...distinct].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
}

function keyOf({ tenantId, endpointId, profileId }: QueueKey): string {
  return `${tenantId}/${endpointId}/${profileId}`;
}
