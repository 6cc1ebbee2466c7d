/** Where a call goes, and whose it is. */
export interface Destination {
  readonly tenantId: string;
  readonly endpointId: string;
  /** Host and port. */
  readonly host: string;
  /** Whether every attempt at the endpoint failed lately. */
  readonly isFailing: boolean;
}

/** The calls that one process has under way, at most. Each holds an event of up to 64 KiB. */
export const SLOTS = {
  inAll: 256,
  perWorkspace: 96,
  perHost: 32,
  perEndpoint: 16,
  /** Of an endpoint that fails: enough to find out when it works again. */
  perFailingEndpoint: 2,
  /** Of all failing endpoints together, so that they leave room for the others. */
  failingInAll: 64,
  /** The same at one host. */
  failingPerHost: 8,
} as const;

/** The last quarter of what endpoints share is for those that have no call under way. */
const OPEN_TO_ALL = 0.75;

interface Use {
  readonly key: string;
  readonly most: number;
}

/**
 * Counts the calls under way, so that an endpoint, a host or a workspace that is slow takes a bounded share of them. A
 * few endpoints that stop answering do not keep others from their first call.
 */
export class DeliverySlots {
  private readonly used = new Map<string, number>();

  /** How many more calls may begin now. */
  free(destination: Destination): number {
    const own = ownUses(destination).map(({ key, most }) => most - this.usedOf(key));
    const isFirst = this.usedOf(endpointKey(destination)) === 0;
    const shared = sharedUses(destination).map(({ key, most }) => {
      const open = Math.floor(most * OPEN_TO_ALL) - this.usedOf(key);
      return isFirst && open < 1 ? Math.min(1, most - this.usedOf(key)) : open;
    });
    return Math.max(0, Math.min(...own, ...shared));
  }

  take(destination: Destination, calls = 1): void {
    for (const { key } of usesOf(destination)) this.used.set(key, this.usedOf(key) + calls);
  }

  /** With the destination that was taken. */
  giveBack(destination: Destination, calls = 1): void {
    for (const { key } of usesOf(destination)) {
      const left = this.usedOf(key) - calls;
      if (left > 0) this.used.set(key, left);
      else this.used.delete(key);
    }
  }

  get inUse(): number {
    return this.usedOf('all');
  }

  private usedOf(key: string): number {
    return this.used.get(key) ?? 0;
  }
}

function usesOf(destination: Destination): readonly Use[] {
  return [...sharedUses(destination), ...ownUses(destination)];
}

function sharedUses({ tenantId, host }: Destination): readonly Use[] {
  return [
    { key: 'all', most: SLOTS.inAll },
    { key: `workspace ${tenantId}`, most: SLOTS.perWorkspace },
    { key: `host ${host}`, most: SLOTS.perHost },
  ];
}

function ownUses(destination: Destination): readonly Use[] {
  const endpoint = endpointKey(destination);
  if (!destination.isFailing) return [{ key: endpoint, most: SLOTS.perEndpoint }];
  return [
    { key: endpoint, most: SLOTS.perFailingEndpoint },
    { key: 'failing', most: SLOTS.failingInAll },
    { key: `failing at ${destination.host}`, most: SLOTS.failingPerHost },
  ];
}

function endpointKey({ endpointId }: Destination): string {
  return `endpoint ${endpointId}`;
}
