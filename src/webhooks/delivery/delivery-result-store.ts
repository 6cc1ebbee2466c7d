import { Injectable } from '@nestjs/common';
import type { HeldCustomer } from '../../identity/domain/known-identities';
import { IdentityService } from '../../identity/identity.service';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { Row, Statement } from '../../platform/postgres/statement';
import { HOLD_CHANGES } from '../change.sql';
import type { DeliveryItem, EndpointKey, QueueKey } from './claimed-delivery';
import { anewResult, type DeliveryResult } from './delivery-result';
import * as sql from './delivery.sql';
import { EndpointHealth } from './endpoint-health';
import { inKeyOrder, keyOf, keysOf, otherQueuesOf } from './queue-keys';

/** Customers by `customerKey`. */
type Customers = ReadonlyMap<string, HeldCustomer>;

interface DueQueue {
  readonly tenantId: string;
  /** Null: it is due later. */
  readonly endpointId: string | null;
}

/** Stores what came of claimed deliveries. */
@Injectable()
export class DeliveryResultStore {
  constructor(
    private readonly identity: IdentityService,
    private readonly health: EndpointHealth,
  ) {}

  /**
   * Stores results and ends the claims. Results of claims that were lost to another process are dropped: it sends them
   * again. After the commit `due` gets the endpoints of queues that are due at once. Returns the results whose queues another
   * transaction has locked: they are to be stored later.
   */
  async store(
    transaction: Transaction,
    results: readonly DeliveryResult[],
    now: Date,
    due: (endpoints: readonly EndpointKey[]) => void,
  ): Promise<readonly DeliveryResult[]> {
    const sorted = results.toSorted((a, b) => (keyOf(a.delivery) < keyOf(b.delivery) ? -1 : 1));
    // Queues are locked before customers, as a claim does.
    const [claimed, customers] = await Promise.all([
      claimedAmong(transaction, sql.HOLD_CLAIMS, sorted),
      this.customersNow(transaction, sorted),
    ]);
    const held = new Set(claimed);
    const others = sorted.filter((result) => !held.has(result));
    const locked = others.length === 0 ? [] : await claimedAmong(transaction, sql.FIND_CLAIMS, others);
    if (claimed.length === 0) return locked;
    const known = await this.withoutErased(transaction, claimed, customers);
    const former = await this.beforeEnabling(transaction, known);
    const ours = known.map((result) => (former.has(result) ? anewResult(result) : result));
    const dueAtOnce: EndpointKey[] = [];
    const addDue = (rows: readonly Row[]): void => {
      for (const { tenantId, endpointId } of rows as unknown as readonly DueQueue[]) {
        if (endpointId !== null) dueAtOnce.push({ tenantId, endpointId });
      }
    };
    endClaims(transaction, ours, addDue);
    this.wakeOthers(transaction, ours, customers, addDue);
    transaction.afterCommit(() => due(dueAtOnce));
    const ofNow = known.filter((result) => !former.has(result));
    await this.health.record(transaction, ofNow, now);
    return locked;
  }

  /** The customers of results about events, by profile: a merge or an erasure may have come during a call. */
  private async customersNow(transaction: Transaction, results: readonly DeliveryResult[]): Promise<Customers> {
    const ofEvents = results.flatMap(({ delivery }) => (delivery.item.kind === 'event' ? [delivery] : []));
    const customers = new Map<string, HeldCustomer>();
    const holdOf = async (tenantId: string): Promise<void> => {
      const own = ofEvents.filter((delivery) => delivery.tenantId === tenantId);
      const profileIds = [...new Set(own.map(({ queueId }) => queueId))];
      const held = await this.identity.holdCustomers(transaction, tenantId, profileIds);
      for (const [queueId, customer] of held) customers.set(customerKey({ tenantId, queueId }), customer);
    };
    await Promise.all([...new Set(ofEvents.map(({ tenantId }) => tenantId))].map(holdOf));
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
    const ofPersons = answered.filter(({ delivery: { item } }) => item.kind === 'change' && isPersonal(item));
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
        ({ delivery }) => delivery.item.kind === 'event' && customers.get(customerKey(delivery))?.isErased !== false,
      ),
      ...ofPersons.filter(({ delivery }) => !changeIds.has(delivery.eventId)),
    ]);
    return results.map((result) =>
      result.attempt !== null && erased.has(result)
        ? { ...result, attempt: { ...result.attempt, answer: '' } }
        : result,
    );
  }

  /** Failed calls that began before their endpoint was enabled, or got another address: they say nothing about it now. */
  private async beforeEnabling(
    transaction: Transaction,
    results: readonly DeliveryResult[],
  ): Promise<ReadonlySet<DeliveryResult>> {
    const failed = results.filter(({ state, attempt }) => attempt !== null && state !== 'delivered');
    if (failed.length === 0) return new Set();
    const found = await transaction.send<{ number: string }>(sql.FIND_ENABLED_SINCE, [
      failed.map(({ delivery }) => delivery.tenantId),
      failed.map(({ delivery }) => delivery.endpointId),
      failed.map(({ delivery }) => delivery.endpoint.enabledAt),
    ]);
    return new Set(found.flatMap(({ number }) => failed[Number(number) - 1] ?? []));
  }

  /** Queues of the same customers may have waited for these: of those that were merged during the calls, too. */
  private wakeOthers(
    transaction: Transaction,
    results: readonly DeliveryResult[],
    customers: Customers,
    woken: (rows: readonly Row[]) => void,
  ): void {
    const others = results
      .filter(({ state }) => state !== 'pending')
      .flatMap(({ delivery }) => otherQueuesOf(delivery, customers.get(customerKey(delivery))));
    if (others.length > 0) transaction.sendLast(sql.WAKE_QUEUES, keysOf(inKeyOrder(others)), woken);
  }
}

/** Those of results whose queues are still claimed for them, as far as the statement finds them. */
async function claimedAmong(
  transaction: Transaction,
  statement: Statement,
  results: readonly DeliveryResult[],
): Promise<readonly DeliveryResult[]> {
  const found = await transaction.send<{ number: string }>(statement, [
    ...keysOf(results.map(({ delivery }) => delivery)),
    results.map(({ delivery }) => delivery.claimId),
  ]);
  return found.flatMap(({ number }) => results[Number(number) - 1] ?? []);
}

/** Stores the attempts and gives back the queues. `released` gets those that have more to send. */
function endClaims(
  transaction: Transaction,
  ours: readonly DeliveryResult[],
  released: (rows: readonly Row[]) => void,
): void {
  const queues = ours.map(({ delivery }) => delivery);
  const keys = keysOf(queues);
  const [tenantIds, endpointIds] = keys;
  transaction.sendLast(sql.RECORD_ATTEMPTS, [
    tenantIds,
    endpointIds,
    queues.map(({ eventId }) => eventId),
    ours.map(({ state }) => state),
    ours.map(({ attempt }) => (attempt === null ? null : JSON.stringify(attempt))),
    ours.map(({ reason }) => reason),
    ours.map(({ attempt, delivery }) => attempt !== null && delivery.firstAttemptAt === null),
  ]);
  const doneSeqs = ours.map(({ state, delivery }) => (state === 'pending' ? '0' : delivery.seq));
  // Most queues have nothing more to send, and a row that is removed need not be written before.
  transaction.sendLast(sql.REMOVE_EMPTY, [...keys, doneSeqs]);
  const delaysMs = ours.map(({ state, delayMs }) => (state === 'pending' ? delayMs : 0));
  transaction.sendLast(sql.RELEASE_QUEUES, [...keys, doneSeqs, ours.map(failuresAfter), delaysMs], released);
}

/** An attempt that was cut off by the end of the process is none. */
function failuresAfter({ state, attempt, delivery }: DeliveryResult): number {
  if (state !== 'pending') return 0;
  return attempt === null ? delivery.failures : delivery.failures + 1;
}

/** Whether the change names a participant. */
function isPersonal({ change }: Extract<DeliveryItem, { kind: 'change' }>): boolean {
  return change !== undefined && change.subject !== '';
}

/** Of the customer whose profile has the queue. */
function customerKey({ tenantId, queueId }: Omit<QueueKey, 'endpointId'>): string {
  return `${tenantId}/${queueId}`;
}
