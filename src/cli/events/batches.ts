import { isDone, type DoneLines, type LineRange } from './done-lines';
import { readLine, type Item, type ReadLine } from './event-line';
import { LineSplitter, type Line } from './lines';

/** Lines that follow one another, and what is to be sent of them. */
export interface Batch extends LineRange {
  readonly items: readonly Item[];
  /** Lines of the errors file, about what cannot be sent. */
  readonly faults: readonly string[];
}

/** One body of a batch; the service takes 5 MiB (contract section 3). */
const BODY_BYTES_MAX = 5 * 1024 * 1024;
const ENVELOPE_BYTES = '{"items":[]}'.length;
/** So that a file of blank lines, or of nonsense, gets on as well. */
const LINES_MAX = 10_000;
const FAULT_BYTES_MAX = 4 * 1024 * 1024;

/** The body of a batch: the texts of its events as they stand in the file. */
export function bodyOf(items: readonly Item[]): string {
  return `{"items":[${items.map(({ text }) => text).join(',')}]}`;
}

/**
 * What is not yet done of a file, from the position of `done` on, in batches of at most `itemsMax` events and 5 MiB. When reading
 * fails, the complete lines come before the error.
 */
export async function* batchesOf(
  chunks: AsyncIterable<Buffer>,
  done: DoneLines,
  itemsMax: number,
): AsyncGenerator<Batch, void, void> {
  const lines = new LineSplitter(done.position);
  let open = new OpenBatch(itemsMax);
  const add = function* (line: Line): Generator<Batch> {
    const isToDo = !isDone(done, line.number);
    const read = isToDo ? readLine(line) : 'blank';
    // Lines of one batch follow one another: one that is done already ends it.
    if (!isToDo || !open.hasRoomFor(read)) {
      yield* open.close();
      open = new OpenBatch(itemsMax);
    }
    if (isToDo) open.add(line, read);
    // At once, rather than when the next line comes: through a pipe that may take a while.
    if (open.isFull) {
      yield* open.close();
      open = new OpenBatch(itemsMax);
    }
  };
  try {
    for await (const chunk of chunks) for (const line of lines.push(chunk)) yield* add(line);
    for (const line of lines.end()) yield* add(line);
  } catch (error) {
    yield* open.close();
    throw error;
  }
  yield* open.close();
}

class OpenBatch {
  private readonly items: Item[] = [];
  private readonly faults: string[] = [];
  private range: LineRange | undefined;
  private bodyBytes = ENVELOPE_BYTES;
  private faultBytes = 0;

  constructor(private readonly itemsMax: number) {}

  get isFull(): boolean {
    return this.items.length >= this.itemsMax;
  }

  hasRoomFor(read: ReadLine): boolean {
    const lines = this.range === undefined ? 0 : this.range.to - this.range.from;
    if (lines >= LINES_MAX || this.faultBytes >= FAULT_BYTES_MAX) return false;
    if (read === 'blank' || 'fault' in read) return true;
    return this.bodyBytes + read.item.bytes + 1 <= BODY_BYTES_MAX;
  }

  add({ number, endByte }: Line, read: ReadLine): void {
    this.range = { from: this.range?.from ?? number, to: number + 1, endByte };
    if (read === 'blank') return;
    if ('fault' in read) {
      this.faults.push(read.fault);
      this.faultBytes += read.fault.length;
    } else {
      this.items.push(read.item);
      this.bodyBytes += read.item.bytes + 1;
    }
  }

  *close(): Generator<Batch> {
    if (this.range !== undefined) yield { ...this.range, items: this.items, faults: this.faults };
  }
}
