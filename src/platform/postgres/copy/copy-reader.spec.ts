import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { CopyReader } from './copy-reader';

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield await Promise.resolve(bytes.subarray(at, at + size));
    at += size;
  }
}

async function rowsOf(reader: CopyReader): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of reader.rows()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** As COPY writes them: no line break within, and a backslash is doubled. */
const row = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .map((text) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r'));
const table = fc.array(row, { maxLength: 6 }).map((rows) => rows.map((each) => `${each}\n`).join(''));

it('finds lines and rows again, wherever the pieces end', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  const check = async (tables: readonly string[], pieces: readonly number[]): Promise<void> => {
    const text = tables.map((rows, index) => `{"table":${index}}\n${rows}\\.\n`).join('');
    const reader = new CopyReader(inPieces(`${text}{"end":true}\n`, pieces));
    for (const [index, rows] of tables.entries()) {
      expect((await reader.readLine()).content).toEqual({ table: index });
      expect(await rowsOf(reader)).toBe(rows);
    }
    const { content, checksum } = await reader.readLine();
    expect([content, checksum]).toEqual([{ end: true }, createHash('sha256').update(text).digest('hex')]);
    await reader.expectEnd();
  };
  await fc.assert(fc.asyncProperty(fc.array(table, { maxLength: 4 }), sizes, check));
});

describe('a text that is not whole is refused', () => {
  const of = (text: string): CopyReader => new CopyReader(inPieces(text, [7]));

  it('within a line, or within rows', async () => {
    await expect(of('{"table":').readLine()).rejects.toThrow('cut short');
    await expect(rowsOf(of('one\ntwo\n'))).rejects.toThrow('cut short');
    await expect(rowsOf(of('one\n\\.'))).rejects.toThrow('cut short');
  });

  it('a line that is no JSON, and a text that goes on', async () => {
    await expect(of('nonsense\n').readLine()).rejects.toThrow('no copy');
    const reader = of('{}\nmore');
    await reader.readLine();
    await expect(reader.expectEnd()).rejects.toThrow('goes on');
  });
});
