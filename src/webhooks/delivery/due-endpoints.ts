import { LRUCache } from 'lru-cache';
import { compareText, type CrossWorkspaceReads } from '../../platform/postgres/distribution/cross-workspace-reads';
import type { PipelinedConnection } from '../../platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../platform/values/uuid';
import type { DueEndpoint, EndpointKey } from './claimed-delivery';
import { FIND_ENDPOINTS } from './delivery.sql';
import type { DeliverySlots, Destination } from './delivery-slots';

/** Of one poll of the queues; the next one goes on after them. */
const ENDPOINTS_PER_POLL = 200;
/** Deliveries that are claimed at once; each may hold an event of 64 KiB. */
const CLAIMED_AT_ONCE_MAX = 64;
/**
 * The queues are polled so often. A poll finds deliveries whose attempt is due again, and those of other processes;
 * what this process adds is announced.
 */
const POLL_MS = 300;
/** Endpoints that may have due deliveries; a later poll finds those beyond. */
const ENDPOINTS_MAX = 1_000;

/** Sorts before every endpoint. */
const BEFORE_ALL: EndpointKey = { tenantId: NIL_UUID, endpointId: NIL_UUID };

type Queries = Pick<PipelinedConnection, 'query'>;

interface FoundEndpoint extends DueEndpoint {
  /** Null: the endpoint was deleted. */
  readonly isDue: boolean | null;
}

/** How many deliveries of an endpoint to claim. */
export interface Share {
  readonly endpoint: EndpointKey;
  readonly most: number;
}

/**
 * The endpoints that may have due deliveries. Where the database was asked is not asked again: deliveries that were
 * announced are claimed without a poll of all queues, which costs more than the claim.
 */
export class DueEndpoints {
  /** Those that may have something due, by id. */
  private readonly due = new Map<string, Destination>();
  /** Where their calls went lately. Only slots are shared by it; a claim reads an endpoint anew. */
  private readonly known = new LRUCache<string, Destination>({ max: ENDPOINTS_MAX });
  private after = BEFORE_ALL;
  /** By the monotonic clock. */
  private pollAt = 0;
  /** How often slots were shared out. */
  private shared = 0;

  /** Deliveries of these endpoints are due. */
  announce(endpoints: readonly EndpointKey[]): void {
    for (const { endpointId } of endpoints) {
      const destination = this.known.get(endpointId);
      if (destination === undefined || this.due.size === ENDPOINTS_MAX) this.pollAt = 0;
      else this.due.set(endpointId, destination);
    }
  }

  /** Milliseconds until the next poll. */
  untilPoll(now: number): number {
    return Math.max(0, this.pollAt - now);
  }

  /** Polls the queues, if it is time to. */
  async poll(reads: Pick<CrossWorkspaceReads, 'first'>, connection: Queries, now: number): Promise<void> {
    if (this.untilPoll(now) > 0) return;
    // What is announced from now on stays, and may ask for another poll.
    this.pollAt = now + POLL_MS;
    // This poll and those of the next pages find it again. Endpoints without slots do not crowd out others.
    this.due.clear();
    const values = [this.after.tenantId, this.after.endpointId, ENDPOINTS_PER_POLL];
    const found = await reads.first<FoundEndpoint>((...query) => connection.query(...query), {
      statement: FIND_ENDPOINTS,
      values,
      most: ENDPOINTS_PER_POLL,
      compare: (a, b) => compareText(a.tenantId, b.tenantId) || compareText(a.endpointId, b.endpointId),
    });
    for (const endpoint of found) {
      if (endpoint.isDue !== true) continue;
      const destination = this.remember(endpoint);
      if (this.due.size < ENDPOINTS_MAX) this.due.set(endpoint.endpointId, destination);
    }
    const last = found.length === ENDPOINTS_PER_POLL ? found.at(-1) : undefined;
    this.after = last ?? BEFORE_ALL;
    if (last !== undefined) this.pollAt = 0;
  }

  /**
   * How many deliveries of each endpoint to claim: workspaces take turns, and the endpoints of each, as long as there are
   * slots. Those of workspaces that are held up wait.
   */
  share(slots: DeliverySlots, isHeldUp: (tenantId: string) => boolean): Share[] {
    const turns = this.turns(isHeldUp);
    const shares = new Map<Destination, number>();
    let left = CLAIMED_AT_ONCE_MAX;
    // Who has no slot left in one turn has none in the next ones.
    for (let waiting = turns; waiting.length > 0 && left > 0;) {
      for (const endpoints of waiting) {
        const destination = left === 0 ? undefined : nextOf(endpoints, slots);
        if (destination === undefined) continue;
        slots.take(destination);
        shares.set(destination, (shares.get(destination) ?? 0) + 1);
        left -= 1;
      }
      waiting = waiting.filter((endpoints) => endpoints.length > 0);
    }
    // The calls take the slots themselves.
    for (const [destination, most] of shares) slots.giveBack(destination, most);
    return [...shares].map(([endpoint, most]) => ({ endpoint, most }));
  }

  /** The endpoints of each workspace. Each time others are the first, so that none always takes the slot that became free. */
  private turns(isHeldUp: (tenantId: string) => boolean): Destination[][] {
    const workspaces = new Map<string, Destination[]>();
    for (const destination of this.due.values()) {
      const own = workspaces.get(destination.tenantId);
      if (own !== undefined) own.push(destination);
      else if (!isHeldUp(destination.tenantId)) workspaces.set(destination.tenantId, [destination]);
    }
    this.shared += 1;
    const turn = Math.floor(this.shared / Math.max(1, workspaces.size));
    return rotated([...workspaces.values()], this.shared).map((endpoints) => rotated(endpoints, turn));
  }

  /** A claim of these shares begins. What is announced from now on may be missing in it. */
  beginClaim(shares: readonly Share[]): void {
    for (const { endpoint } of shares) this.due.delete(endpoint.endpointId);
  }

  /** What a claim has brought, by endpoint. One that had as much as was wanted may have more. */
  endClaim(shares: readonly Share[], claimedOf: ReadonlyMap<string, number>): void {
    this.announce(
      shares
        .filter(({ endpoint, most }) => claimedOf.get(endpoint.endpointId) === most)
        .map(({ endpoint }) => endpoint),
    );
  }

  /** An endpoint as it is now. Returns where its calls go. */
  remember(endpoint: DueEndpoint): Destination {
    const { tenantId, endpointId, url, failingSince } = endpoint;
    const destination = { tenantId, endpointId, host: new URL(url).host, isFailing: failingSince !== null };
    this.known.set(endpointId, destination);
    return destination;
  }
}

/** The first of these that has a slot; it becomes the last. Those before it are removed. */
function nextOf(endpoints: Destination[], slots: DeliverySlots): Destination | undefined {
  for (let next = endpoints.shift(); next !== undefined; next = endpoints.shift()) {
    if (slots.free(next) === 0) continue;
    endpoints.push(next);
    return next;
  }
  return undefined;
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const first = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}
