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
} as const;

interface Use {
  readonly key: string;
  readonly most: number;
}

/**
 * Counts the calls under way, so that an endpoint, a host or a workspace that is slow takes a bounded share of them.
 */
export class DeliverySlots {
  private readonly used = new Map<string, number>();

  /** How many more calls may begin now. */
  free(destination: Destination): number {
    return Math.max(0, Math.min(...usesOf(destination).map(({ key, most }) => most - this.usedOf(key))));
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

function usesOf({ tenantId, endpointId, host, isFailing }: Destination): readonly Use[] {
  return [
    { key: 'all', most: SLOTS.inAll },
    { key: `workspace ${tenantId}`, most: SLOTS.perWorkspace },
    { key: `host ${host}`, most: SLOTS.perHost },
    { key: `endpoint ${endpointId}`, most: isFailing ? SLOTS.perFailingEndpoint : SLOTS.perEndpoint },
    ...(isFailing ? [{ key: 'failing', most: SLOTS.failingInAll }] : []),
  ];
}
