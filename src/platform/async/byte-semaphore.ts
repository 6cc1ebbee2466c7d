import { FairQueue } from './fair-queue';

interface Waiting {
  readonly bytes: number;
  readonly enter: (leave: () => void) => void;
}

/** Lets work in while the bytes that it works on fit beside those under way: in order within a workspace; workspaces take turns. */
export class ByteSemaphore {
  private underWay = 0;
  private readonly waiting = new FairQueue<Waiting>();

  constructor(private readonly bytesMax: number) {}

  /** Resolves with what is to be called, once, when the work is done. What is larger than `bytesMax` is let in alone. */
  enter(tenantId: string, bytes: number): Promise<() => void> {
    return new Promise((enter) => {
      this.waiting.push(tenantId, { bytes, enter });
      this.letIn();
    });
  }

  private letIn(): void {
    const fits = ({ bytes }: Waiting): boolean => this.underWay === 0 || this.underWay + bytes <= this.bytesMax;
    for (let [next] = this.waiting.take(1, fits); next !== undefined; [next] = this.waiting.take(1, fits)) {
      const { bytes, enter } = next;
      this.underWay += bytes;
      enter(() => {
        this.underWay -= bytes;
        this.letIn();
      });
    }
  }
}
