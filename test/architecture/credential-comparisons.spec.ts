import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(__dirname, '..', '..', 'src');
/** Names of what only its owner should know, or what proves it. */
const SECRET = String.raw`(?:\w+\.)*\w*(?:[kK]eyHash|[sS]ecret|[sS]ignature|[dD]igest|[pP]assword|[pP]laintext|[hH]mac)`;
/** `===` ends at the first byte that differs, and so tells how many were right. Comparing with undefined tells nothing. */
const COMPARED = new RegExp(
  String.raw`(?<!typeof )\b${SECRET}\s*[!=]==\s*(?!\s|undefined|null|'|\d)|[!=]==\s*${SECRET}\b(?!\.)`,
);

function comparisonsIn(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(?:\/\/|\*|\/\*)/.test(line) && COMPARED.test(line));
}

it('no secret is compared by ===, whose duration reveals how much of it is right', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec)\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) =>
    comparisonsIn(readFileSync(join(SOURCE, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

it('a comparison of a secret by === is found', () => {
  expect(comparisonsIn('if (row.keyHash === keyHash) return row;')).toHaveLength(1);
  expect(comparisonsIn('return given !== expected.signature;')).toHaveLength(1);
  expect(comparisonsIn('if (secret === undefined || keyHash.length === 32) return;')).toEqual([]);
});
