/** Entries of one customer share a shard, which one worker holds at a time. Changing it needs an empty queue. */
export const QUEUE_SHARDS = 64;

/** A part of the queue that one worker works on at a time. */
export interface QueuePartition {
  readonly tenantId: string;
  readonly shard: number;
}

/** One text for one partition. */
export function queuePartitionKey({ tenantId, shard }: QueuePartition): string {
  return `${tenantId}/${shard}`;
}

/** The position of an entry in the order of arrival, by the database's clock. */
export interface EntryKey {
  /** UTC with microseconds, always of the same length, so that text compares as time does. */
  readonly queuedAt: string;
  /** Within the batch that queued it. */
  readonly position: number;
}

/** The last bytes of a UUIDv7 are random, so customers spread evenly. */
export function shardOf(profileId: string): number {
  return Number.parseInt(profileId.slice(-4), 16) % QUEUE_SHARDS;
}

/** Whether `a` stands before `b` in the order of arrival; two entries of one batch are told apart by their positions. */
export function isEarlier(a: EntryKey, b: EntryKey): boolean {
  return a.queuedAt === b.queuedAt ? a.position < b.position : a.queuedAt < b.queuedAt;
}
