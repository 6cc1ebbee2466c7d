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
  private admittedBytes = 0;
  /** The same, by workspace. */
  private readonly admittedOf = new Map<string, number>();
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
      this.admittedBytes === 0 || this.admittedBytes + bytes <= this.bytesMax;
    const hasRoom = (tenantId: string): boolean =>
      (this.admittedOf.get(tenantId) ?? 0) < this.bytesMax * SHARE_OF_ONE_WORKSPACE;
    const take = (): Waiting | undefined => this.waiting.takeOf(hasRoom, 1, fits)[0];
    for (let next = take(); next !== undefined; next = take()) {
      const { tenantId, bytes, admit } = next;
      this.count(tenantId, bytes);
      admit(() => {
        this.count(tenantId, -bytes);
        this.admitNext();
      });
    }
  }

  private count(tenantId: string, bytes: number): void {
    this.admittedBytes += bytes;
    const own = (this.admittedOf.get(tenantId) ?? 0) + bytes;
    if (own > 0) this.admittedOf.set(tenantId, own);
    else this.admittedOf.delete(tenantId);
  }
}
