import { FairQueue } from './fair-queue';

interface Waiting {
  readonly bytes: number;
  readonly admit: (release: () => void) => void;
}

/** Admits work while the sum of its bytes is within a limit: in order within a workspace; workspaces take turns. */
export class ByteSemaphore {
  private admittedBytes = 0;
  private readonly waiting = new FairQueue<Waiting>();

  constructor(private readonly bytesMax: number) {}

  /** Resolves with the function that the caller calls once when its work is done. Work above `bytesMax` is admitted alone. */
  acquire(tenantId: string, bytes: number): Promise<() => void> {
    return new Promise((admit) => {
      this.waiting.push(tenantId, { bytes, admit });
      this.admitNext();
    });
  }

  private admitNext(): void {
    const fits = ({ bytes }: Waiting): boolean =>
      this.admittedBytes === 0 || this.admittedBytes + bytes <= this.bytesMax;
    for (let [next] = this.waiting.take(1, fits); next !== undefined; [next] = this.waiting.take(1, fits)) {
      const { bytes, admit } = next;
      this.admittedBytes += bytes;
      admit(() => {
        this.admittedBytes -= bytes;
        this.admitNext();
      });
    }
  }
}
