import { BytesByWorkspace } from './bytes-by-workspace';
import { FairQueue } from './fair-queue';

interface Waiting {
  readonly tenantId: string;
  readonly bytes: number;
  readonly admit: (release: () => void) => void;
}

/**
 * A workspace that has this share of the bytes waits, however long its work takes. With one piece more of up to 5/16 of the
 * limit it leaves as much to others.
 */
const SHARE_OF_ONE_WORKSPACE = 3 / 8;

/** Admits work while the sum of its bytes is within a limit: in order within a workspace; workspaces take turns. */
export class ByteSemaphore {
  private readonly admitted = new BytesByWorkspace();
  private readonly waiting = new FairQueue<Waiting>();

  constructor(private readonly bytesMax: number) {}

  /** Resolves with the function that the caller calls once when its work is done. Work above `bytesMax` is admitted alone. */
  acquire(tenantId: string, bytes: number): Promise<() => void> {
    return new Promise((admit) => {
      this.waiting.push(tenantId, { tenantId, bytes, admit });
      this.admitNext();
    });
  }

  private admitNext(): void {
    const fits = ({ bytes }: Waiting): boolean =>
      this.admitted.total === 0 || this.admitted.total + bytes <= this.bytesMax;
    const hasRoom = (tenantId: string): boolean => this.admitted.of(tenantId) < this.bytesMax * SHARE_OF_ONE_WORKSPACE;
    const take = (): Waiting | undefined => this.waiting.takeOf(hasRoom, 1, fits)[0];
    for (let next = take(); next !== undefined; next = take()) {
      const { tenantId, bytes, admit } = next;
      this.admitted.add(tenantId, bytes);
      admit(() => {
        this.admitted.add(tenantId, -bytes);
        this.admitNext();
      });
    }
  }
}
