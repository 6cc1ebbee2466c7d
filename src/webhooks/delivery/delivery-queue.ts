import { Injectable } from '@nestjs/common';
import { EventQueue } from '../../ingest/queue/event-queue';
import { IdentityService } from '../../identity/identity.service';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { ClaimedDelivery, DueEndpoint, QueueKey } from './claimed-delivery';
import type { DeliveryResult } from './delivery-result';
import * as sql from './delivery.sql';
import { EndpointHealth } from './endpoint-health';

/** How long a claim lasts: twice as long as an attempt. A killed process's deliveries are sent again after it. */
export const CLAIM_MS = 30_000;
/** A queue that waits for an earlier delivery of its customer looks again after so long, at the latest. */
const BLOCKED_MS_MAX = 30_000;
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
}

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
    const ours = await this.withoutErased(transaction, claimed);
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
    this.wakeOthers(transaction, ours);
    await this.health.record(transaction, ours, now);
  }

  /** Adds the events and customers of one workspace to its claimed deliveries. */
  private async complete(
    transaction: Transaction,
    tenantId: string,
    own: readonly { readonly queue: ClaimedQueue; readonly first: FirstDelivery }[],
    claimId: string,
  ): Promise<ClaimedDelivery[]> {
    if (own.length === 0) return [];
    const profileIds = [...new Set(own.map(({ queue }) => queue.profileId))];
    const eventIds = [...new Set(own.map(({ first }) => first.eventId))];
    const [customers, events] = await Promise.all([
      this.identity.holdCustomers(transaction, tenantId, profileIds),
      this.events.events(transaction, tenantId, eventIds),
    ]);
    return own.map(({ queue: { endpointId, profileId, failures }, first: { eventId, seq, firstAttemptAt } }) => ({
      ...{ tenantId, endpointId, profileId, claimId, eventId, seq, failures, firstAttemptAt },
      event: events.get(eventId),
      customer: customers.get(profileId),
    }));
  }

  /** Gives back the claims of queues whose customer has an earlier delivery in another queue. */
  private async withoutBlocked(
    transaction: Transaction,
    deliveries: readonly ClaimedDelivery[],
  ): Promise<ClaimedDelivery[]> {
    const others = deliveries.flatMap((delivery, index) =>
      otherProfilesOf(delivery).map((profileId) => ({ ...delivery, profileId, index })),
    );
    if (others.length === 0) return [...deliveries];
    const found = await transaction.send<FirstOfOther>(sql.FIRST_OF_OTHERS, keysOf(others));
    const delays = new Map<number, number>();
    for (const { number, seq, isClaimed, untilDueMs } of found) {
      const other = others[Number(number) - 1];
      const delivery = deliveries[other?.index ?? -1];
      if (other === undefined || delivery === undefined || !isBefore([seq, other.profileId], delivery)) continue;
      delays.set(other.index, isClaimed ? BLOCKED_MS_MAX : Math.min(BLOCKED_MS_MAX, untilDueMs + BLOCKED_MS_MIN));
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

  /** Answers may repeat what was sent: of a person who was erased during the call nothing is stored. */
  private async withoutErased(
    transaction: Transaction,
    results: readonly DeliveryResult[],
  ): Promise<readonly DeliveryResult[]> {
    const answered = results.filter(({ attempt }) => attempt !== null && attempt.answer !== '');
    const erased = new Set<string>();
    for (const tenantId of new Set(answered.map(({ delivery }) => delivery.tenantId))) {
      const own = answered.filter(({ delivery }) => delivery.tenantId === tenantId);
      const profileIds = [...new Set(own.map(({ delivery }) => delivery.profileId))];
      const customers = await this.identity.holdCustomers(transaction, tenantId, profileIds);
      for (const id of profileIds) if (customers.get(id)?.isErased !== false) erased.add(id);
    }
    return results.map((result) =>
      result.attempt !== null && erased.has(result.delivery.profileId)
        ? { ...result, attempt: { ...result.attempt, answer: '' } }
        : result,
    );
  }

  /** Queues of the same customers may have waited for these. */
  private wakeOthers(transaction: Transaction, results: readonly DeliveryResult[]): void {
    const others = results
      .filter(({ state }) => state !== 'pending')
      .flatMap(({ delivery }) => otherProfilesOf(delivery).map((profileId) => ({ ...delivery, profileId })));
    if (others.length > 0) transaction.sendLast(sql.WAKE_QUEUES, keysOf(inKeyOrder(others)));
  }
}

/** An attempt that was cut off by the end of the process is none. */
function failuresAfter({ state, attempt, delivery }: DeliveryResult): number {
  if (state !== 'pending') return 0;
  return attempt === null ? delivery.failures : delivery.failures + 1;
}

/** Profiles of the same customer, which have queues of their own. */
function otherProfilesOf({ customer, profileId }: ClaimedDelivery): readonly string[] {
  return customer === undefined || customer.isErased ? [] : customer.profileIds.filter((id) => id !== profileId);
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
