import fc from 'fast-check';
import { LineSplitter, type Line } from './lines';

const FROM_START = { lines: 0, bytes: 0 };

function linesOf(chunks: readonly Buffer[], from = FROM_START): Line[] {
  const splitter = new LineSplitter(from);
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()];
}

const texts = (lines: readonly Line[]): string[] => lines.map(({ content }) => content.toString());

describe('LineSplitter', () => {
  it('takes LF and CRLF, a byte order mark, blank lines, and a last line without an end', () => {
    const lines = linesOf([Buffer.from('\uFEFFone\r\ntwo\n\n\uFEFFthree\r')]);
    expect(texts(lines)).toEqual(['one', 'two', '', '\uFEFFthree']);
    expect(lines.map(({ number, endByte }) => [number, endByte])).toEqual([
      [1, 8],
      [2, 12],
      [3, 13],
      [4, 22],
    ]);
  });

  it('gives the same lines however the file is cut into chunks, and from any line on', () => {
    const file = fc.array(fc.constantFrom('', 'a', 'bc', 'd\r', 'é'), { maxLength: 20 });
    fc.assert(
      fc.property(file, fc.array(fc.nat(40), { maxLength: 8 }), fc.nat(19), (rows, cuts, skipped) => {
        const bytes = Buffer.from(rows.join('\n'));
        const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const whole = linesOf([bytes]);
        expect(linesOf(chunks)).toEqual(whole);
        const last = whole[skipped];
        if (last === undefined) return;
        const rest = linesOf([bytes.subarray(last.endByte)], { lines: last.number, bytes: last.endByte });
        expect(rest).toEqual(whole.slice(skipped + 1));
      }),
    );
  });

  it('holds no more than a mebibyte of a line, and knows where the next one begins', () => {
    const chunk = Buffer.alloc(300_000, 'x');
    const [long, next] = linesOf([chunk, chunk, chunk, chunk, chunk, Buffer.from('\nnext\n')]);
    expect([long?.isTooLong, long?.content.length, long?.endByte]).toEqual([true, 1024 * 1024, 1_500_001]);
    expect([next?.isTooLong, next?.content.toString(), next?.number]).toEqual([false, 'next', 2]);
  });
});
