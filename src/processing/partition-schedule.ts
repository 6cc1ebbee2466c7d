import { queuePartitionKey, type QueuePartition } from '../ingest/queue/queue-partition';
import { FairQueue } from '../platform/async/fair-queue';

type Standing = 'waiting' | 'running' | 'again';

/**
 * Which places one process works on next. Workspaces take turns, however many places one of them has; a place is worked on
 * once at a time, and one that is told of meanwhile comes again.
 */
export class PartitionSchedule {
  private readonly waiting = new FairQueue<QueuePartition>();
  private readonly standings = new Map<string, Standing>();
  /** Called when there is something to do. */
  onWork: () => void = () => undefined;

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add(places: readonly QueuePartition[]): void {
    for (const place of places) {
      const name = queuePartitionKey(place);
      const standing = this.standings.get(name);
      if (standing === 'running') this.standings.set(name, 'again');
      else if (standing === undefined) this.wait(place, name);
    }
  }

  /** The next place, which is the caller's until `done`. */
  next(): QueuePartition | undefined {
    const [place] = this.waiting.take(1);
    if (place !== undefined) this.standings.set(queuePartitionKey(place), 'running');
    return place;
  }

  /** `isMore`: it has more to do, and takes its turn again. */
  done(place: QueuePartition, isMore: boolean): void {
    const name = queuePartitionKey(place);
    const isAgain = this.standings.get(name) === 'again';
    this.standings.delete(name);
    if (isMore || isAgain) this.wait(place, name);
  }

  private wait(place: QueuePartition, name: string): void {
    this.standings.set(name, 'waiting');
    this.waiting.push(place.tenantId, place);
    this.onWork();
  }
}
