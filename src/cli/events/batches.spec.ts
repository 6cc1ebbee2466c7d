import { batchesOf, bodyOf, type Batch } from './batches';
import { NOTHING_DONE, type DoneLines } from './done-lines';

async function batches(text: string, itemsMax: number, done: DoneLines = NOTHING_DONE): Promise<Batch[]> {
  const chunks = async function* () {
    yield await Promise.resolve(Buffer.from(text).subarray(done.position.bytes));
  };
  const all: Batch[] = [];
  for await (const batch of batchesOf(chunks(), done, itemsMax)) all.push(batch);
  return all;
}

const lines = ({ from, to, items }: Batch) => [from, to, items.map(({ line }) => line)];

describe('batchesOf', () => {
  it('covers every line once, with at most so many events', async () => {
    const all = await batches('{}\n\n{}\nno\n{}\n{}\n{}\n{}', 3);
    expect(all.map(lines)).toEqual([
      [1, 6, [1, 3, 5]],
      [6, 9, [6, 7, 8]],
    ]);
    expect(all.map(({ faults }) => faults.length)).toEqual([1, 0]);
    expect(all.at(-1)?.endByte).toBe(21);
  });

  it('leaves out what is done, and joins nothing across it', async () => {
    const done = { position: { lines: 1, bytes: 3 }, beyond: [{ from: 3, to: 5, endByte: 12 }] };
    expect((await batches('{}\n'.repeat(6), 10, done)).map(lines)).toEqual([
      [2, 3, [2]],
      [5, 7, [5, 6]],
    ]);
  });

  it('makes no body of more than 5 MiB', async () => {
    const event = `{"a":"${'x'.repeat(200_000)}"}`;
    const all = await batches(`${event}\n`.repeat(60), 1_000);
    expect(all.map(({ items }) => items.length)).toEqual([26, 26, 8]);
    for (const { items } of all) {
      expect(Buffer.byteLength(bodyOf(items))).toBeLessThanOrEqual(5 * 1024 * 1024);
      expect(JSON.parse(bodyOf(items))).toEqual({ items: items.map(({ text }) => JSON.parse(text)) });
    }
  });

  it('gets on in a file of nothing but blank lines', async () => {
    expect((await batches('\n'.repeat(25_000), 10)).map(({ from, to }) => to - from)).toEqual([10_000, 10_000, 5_000]);
  });
});
