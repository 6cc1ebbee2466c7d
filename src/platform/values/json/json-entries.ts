import { JsonScan, type JsonExcess } from './json-scan';

const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
const NO_LIMITS = { depthMax: ANY_NUMBER, valuesMax: ANY_NUMBER, keysMax: ANY_NUMBER, entriesMax: ANY_NUMBER };

/** Stands for an entry that was not parsed, because it is over a limit. */
export class UnparsedEntry {
  constructor(readonly excess: JsonExcess) {}
}

/** The entries of a list in a JSON text, as they were written: numbers that JSON.parse cannot keep stay what they are. */
export class JsonEntries {
  constructor(
    private readonly json: Buffer,
    private readonly scan: Pick<JsonScan, 'starts' | 'ends' | 'excesses'>,
  ) {}

  get count(): number {
    return this.scan.starts.length;
  }

  start(index: number): number {
    return this.scan.starts[index] ?? this.json.length;
  }

  end(index: number): number {
    return this.scan.ends[index] ?? this.json.length;
  }

  bytes(index: number): number {
    return this.end(index) - this.start(index);
  }

  text(index: number): string {
    return this.json.toString('utf8', this.start(index), this.end(index)).trim();
  }

  excess(index: number): JsonExcess | undefined {
    return this.scan.excesses.get(index);
  }
}

/**
 * The entries of the top-level list `field` of a JSON text; of two equal keys the last one counts, as for JSON.parse. Empty
 * when there is no such list.
 */
export function entriesOf(json: Buffer, field: string): JsonEntries {
  const scan = new JsonScan(json, NO_LIMITS, field);
  scan.run();
  return new JsonEntries(json, scan.lastList);
}
