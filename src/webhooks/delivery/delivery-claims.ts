import { Injectable } from '@nestjs/common';
import { EventQueue } from '../../ingest/queue/event-queue';
import { IdentityService } from '../../identity/identity.service';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { READ_WEBHOOK_CHANGES } from '../change.sql';
import type { ChangeContent, ChangeToSend } from '../domain/stored-change';
import type { ClaimedDelivery, DeliveryItem, DueEndpoint, EndpointKey, QueueKey } from './claimed-delivery';
import * as sql from './delivery.sql';
import { inKeyOrder, keysOf, otherQueuesOf } from './queue-keys';

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

interface CurrentEndpoint extends DueEndpoint {
  readonly isEnabledLater: boolean | null;
}

interface FirstDelivery {
  readonly number: string;
  readonly eventId: string;
  readonly seq: string;
  readonly firstAttemptAt: Date | null;
  readonly isChange: boolean;
}

/** A claimed queue with what it sends first. */
interface FirstItem {
  readonly queue: ClaimedQueue;
  readonly first: FirstDelivery;
  readonly item: DeliveryItem;
}

interface ChangeRow {
  readonly id: string;
  readonly subject: string;
  readonly change: ChangeContent;
}

/** What a claim brings. */
export interface Claim {
  readonly deliveries: readonly ClaimedDelivery[];
  /** How many queues of each endpoint were due and are claimed, by its id. */
  readonly claimedOf: ReadonlyMap<string, number>;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

interface FirstOfOther {
  readonly number: string;
  readonly seq: string;
  readonly isClaimed: boolean;
  readonly untilDueMs: number;
}

/** Claims queues of deliveries in the database, which all dispatchers share. */
@Injectable()
export class DeliveryClaims {
  constructor(
    private readonly identity: IdentityService,
    private readonly events: EventQueue,
  ) {}

  /**
   * Claims up to so many queues of each endpoint. Returns the first delivery of each, in the order of each customer: a
   * queue of a merged customer waits while another one has an earlier delivery.
   */
  async claim(
    transaction: Transaction,
    wanted: readonly { readonly endpoint: EndpointKey; readonly most: number }[],
    claimId: string,
  ): Promise<Claim> {
    const claimed = await transaction.send<ClaimedQueue>(sql.CLAIM_QUEUES, [
      wanted.map(({ endpoint }) => endpoint.tenantId),
      wanted.map(({ endpoint }) => endpoint.endpointId),
      wanted.map(({ most }) => most),
      claimId,
      CLAIM_MS,
    ]);
    const claimedOf = new Map<string, number>();
    for (const { endpointId } of claimed) claimedOf.set(endpointId, (claimedOf.get(endpointId) ?? 0) + 1);
    if (claimed.length === 0) return { deliveries: [], claimedOf };
    const firsts = await transaction.send<FirstDelivery>(sql.FIRST_DELIVERIES, [
      ...keysOf(claimed),
      claimed.map(({ doneSeq }) => doneSeq),
    ]);
    const byNumber = new Map(firsts.map((first) => [Number(first.number) - 1, first]));
    const empty = claimed.filter((_queue, index) => !byNumber.has(index));
    if (empty.length > 0) transaction.sendLast(sql.REMOVE_EMPTY, [...keysOf(inKeyOrder(empty)), empty.map(() => '0')]);
    const itemsOf = (tenantId: string): Promise<FirstItem[]> => {
      const own = claimed.flatMap((queue, index) => {
        const first = byNumber.get(index);
        return queue.tenantId === tenantId && first !== undefined ? [{ queue, first }] : [];
      });
      return this.withItems(transaction, tenantId, own);
    };
    const tenantIds = new Set(claimed.map(({ tenantId }) => tenantId));
    const [items, endpoints] = await Promise.all([
      Promise.all([...tenantIds].map(itemsOf)),
      // Behind the locks of customers: it may have waited for them, and an endpoint was moved or disabled meanwhile.
      this.readEndpoints(transaction, claimed),
    ]);
    const deliveries = items.flat().flatMap((each): ClaimedDelivery[] => {
      const endpoint = endpoints.get(each.queue.endpointId);
      return endpoint === undefined ? [] : [deliveryOf(each, endpoint, claimId)];
    });
    // Those of endpoints that were disabled or deleted meanwhile.
    const unsent = claimed.filter(({ endpointId }, index) => byNumber.has(index) && !endpoints.has(endpointId));
    release(transaction, unsent, () => 0);
    return { deliveries: await this.withoutBlocked(transaction, deliveries), claimedOf };
  }

  /** The endpoints of these queues that are enabled, by id. */
  private async readEndpoints(
    transaction: Transaction,
    queues: readonly ClaimedQueue[],
  ): Promise<ReadonlyMap<string, CurrentEndpoint>> {
    const keys = [...new Map(queues.map((queue) => [queue.endpointId, queue])).values()];
    const endpoints = await transaction.send<CurrentEndpoint>(sql.READ_ENDPOINTS, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ endpointId }) => endpointId),
    ]);
    return new Map(endpoints.map((endpoint) => [endpoint.endpointId, endpoint]));
  }

  /** Adds what is sent to the claimed queues of one workspace: events with their customers, and changes. */
  private async withItems(
    transaction: Transaction,
    tenantId: string,
    own: readonly Omit<FirstItem, 'item'>[],
  ): Promise<FirstItem[]> {
    const ofEvents = own.filter(({ first }) => !first.isChange);
    const ofChanges = own.filter(({ first }) => first.isChange);
    const profileIds = [...new Set(ofEvents.map(({ queue }) => queue.queueId))];
    const [customers, events, changes] = await Promise.all([
      profileIds.length === 0 ? NOTHING : this.identity.holdCustomers(transaction, tenantId, profileIds),
      profileIds.length === 0 ? NOTHING : this.events.events(transaction, tenantId, idsOf(ofEvents)),
      this.readChanges(transaction, tenantId, idsOf(ofChanges)),
    ]);
    return own.map(({ queue, first }) => {
      const item: DeliveryItem = first.isChange
        ? { kind: 'change', change: changes.get(first.eventId) }
        : { kind: 'event', event: events.get(first.eventId), customer: customers.get(queue.queueId) };
      return { queue, first, item };
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
      delivery.item.kind === 'change' ? [] : otherQueuesOf({ ...delivery, index }, delivery.item.customer),
    );
    if (others.length === 0) return [...deliveries];
    const found = await transaction.send<FirstOfOther>(sql.FIRST_OF_OTHERS, keysOf(others));
    const delays = new Map<ClaimedDelivery, number>();
    for (const { number, seq, isClaimed, untilDueMs } of found) {
      const other = others[Number(number) - 1];
      const delivery = deliveries[other?.index ?? -1];
      if (other === undefined || delivery === undefined || !isBefore([seq, other.queueId], delivery)) continue;
      delays.set(delivery, isClaimed ? BLOCKED_BY_CALL_MS : Math.min(BLOCKED_MS_MAX, untilDueMs + BLOCKED_MS_MIN));
    }
    const blocked = deliveries.filter((delivery) => delays.has(delivery));
    release(transaction, blocked, (delivery) => Math.round(delays.get(delivery) ?? 0));
    return deliveries.filter((delivery) => !delays.has(delivery));
  }
}

/** Gives back the claims of queues, which are due again after so many milliseconds each. */
function release<Queue extends QueueKey & Pick<ClaimedQueue, 'failures'>>(
  transaction: Transaction,
  queues: readonly Queue[],
  delayMsOf: (queue: Queue) => number,
): void {
  if (queues.length === 0) return;
  transaction.sendLast(sql.RELEASE_QUEUES, [
    ...keysOf(queues),
    queues.map(() => '0'),
    queues.map(({ failures }) => failures),
    queues.map(delayMsOf),
  ]);
}

function deliveryOf({ queue, first, item }: FirstItem, endpoint: CurrentEndpoint, claimId: string): ClaimedDelivery {
  const { tenantId, endpointId, queueId } = queue;
  const { eventId, seq } = first;
  const { failures, firstAttemptAt } = isAnew(endpoint, first)
    ? { failures: 0, firstAttemptAt: null }
    : { failures: queue.failures, firstAttemptAt: first.firstAttemptAt };
  return { tenantId, endpointId, queueId, claimId, endpoint, eventId, seq, failures, firstAttemptAt, item };
}

/**
 * An endpoint that is enabled begins the schedules of its deliveries anew. A time that has not come yet says nothing:
 * every attempt would be before it, and so the first one.
 */
function isAnew({ enabledAt, isEnabledLater }: CurrentEndpoint, { firstAttemptAt }: FirstDelivery): boolean {
  if (firstAttemptAt === null) return true;
  return enabledAt !== null && isEnabledLater !== true && firstAttemptAt < enabledAt;
}

function idsOf(own: readonly { readonly first: FirstDelivery }[]): string[] {
  return [...new Set(own.map(({ first }) => first.eventId))];
}

function isBefore([seq, queueId]: readonly [string, string], { seq: own, queueId: ownQueue }: FirstKey): boolean {
  const difference = Number(BigInt(seq) - BigInt(own));
  return difference < 0 || (difference === 0 && queueId < ownQueue);
}

type FirstKey = Pick<ClaimedDelivery, 'seq' | 'queueId'>;
