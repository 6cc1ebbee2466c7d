/**
 * Watches who is one customer with whom, and knows nothing of the rules: identifiers that were together once and are apart now
 * were parted by undoing a merge, since nothing else parts them, and must never be together again. What has been erased is forgotten.
 */
export class PartedPairs {
  private readonly pairs = new Map<string, 'together' | 'parted'>();
  /** Pairs that were together, then apart, then together. */
  readonly metAgain: string[] = [];

  /** How many pairs were seen to be parted. */
  parted = 0;

  /** The customer of every identifier, all at one moment; moments in their order. */
  observe(customers: ReadonlyMap<string, string>): void {
    for (const pair of this.pairs.keys())
      if (pair.split(' ').some((identifier) => !customers.has(identifier))) this.pairs.delete(pair);
    const all = [...customers].sort(([a], [b]) => (a < b ? -1 : 1));
    all.forEach(([a, customerA], place) => {
      for (const [b, customerB] of all.slice(place + 1)) this.see(`${a} ${b}`, customerA === customerB);
    });
  }

  private see(pair: string, areTogether: boolean): void {
    const before = this.pairs.get(pair);
    if (areTogether && before === 'parted') this.metAgain.push(pair);
    if (areTogether && before === undefined) this.pairs.set(pair, 'together');
    if (areTogether || before !== 'together') return;
    this.pairs.set(pair, 'parted');
    this.parted += 1;
  }
}
