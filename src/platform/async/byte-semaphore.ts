interface Waiting {
  readonly bytes: number;
  readonly enter: (leave: () => void) => void;
}

/** Lets work in while the bytes that it works on fit beside those under way; first come, first served. */
export class ByteSemaphore {
  private underWay = 0;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly bytesMax: number) {}

  /** Resolves with what is to be called, once, when the work is done. What is larger than `bytesMax` is let in alone. */
  enter(bytes: number): Promise<() => void> {
    return new Promise((enter) => {
      this.waiting.push({ bytes, enter });
      this.letIn();
    });
  }

  private letIn(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      const { bytes, enter } = first;
      if (this.underWay > 0 && this.underWay + bytes > this.bytesMax) return;
      this.waiting.shift();
      this.underWay += bytes;
      enter(() => {
        this.underWay -= bytes;
        this.letIn();
      });
    }
  }
}
