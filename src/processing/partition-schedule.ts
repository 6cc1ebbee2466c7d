import { queuePartitionKey, type QueuePartition } from '../ingest/queue/queue-partition';
import { FairQueue } from '../platform/async/fair-queue';

type PartitionState = 'waiting' | 'running' | 'again';

/**
 * The partitions that one process works on next. Workspaces take turns, however many partitions each has. A partition
 * is worked on once at a time; one that is added meanwhile is scheduled again.
 */
export class PartitionSchedule {
  private readonly waiting = new FairQueue<QueuePartition>();
  private readonly states = new Map<string, PartitionState>();
  /** Called when there is something to do. */
  onWork: () => void = () => undefined;

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add(partitions: readonly QueuePartition[]): void {
    for (const partition of partitions) {
      const name = queuePartitionKey(partition);
      const state = this.states.get(name);
      if (state === 'running') this.states.set(name, 'again');
      else if (state === undefined) this.wait(partition, name);
    }
  }

  /** The next partition; the caller must call `done` after its turn. */
  next(): QueuePartition | undefined {
    const [partition] = this.waiting.take(1);
    if (partition !== undefined) this.states.set(queuePartitionKey(partition), 'running');
    return partition;
  }

  /** `isMore`: the partition has more entries and is scheduled again. */
  done(partition: QueuePartition, isMore: boolean): void {
    const name = queuePartitionKey(partition);
    const isAgain = this.states.get(name) === 'again';
    this.states.delete(name);
    if (isMore || isAgain) this.wait(partition, name);
  }

  private wait(partition: QueuePartition, name: string): void {
    this.states.set(name, 'waiting');
    this.waiting.push(partition.tenantId, partition);
    this.onWork();
  }
}
