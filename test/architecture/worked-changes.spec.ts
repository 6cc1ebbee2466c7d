import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
/** A row of a table of CONTRIBUTING.md: a file, a symbol in it, and what to change. */
const PLACE = /^\| `([^`]+)` +\| `([^`]+)` +\| .*\|$/gm;
/** Files of the ingest pipeline that this branch does not have yet: remove each line once its file is there. */
const ARRIVING = new Set([
  'src/ingest/store/event-columns.ts',
  'src/ingest/store/stored-copies.ts',
  'src/ingest/store/copies.ts',
  'src/ingest/domain/event.ts',
  'src/ingest/domain/deduplication.ts',
  'src/ingest/domain/checked-event.ts',
  'src/ingest/parse/field-names.ts',
]);

const contributing = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
const places = contributing
  .split(/^### /m)
  .slice(1)
  .flatMap((section) => {
    const change = section.split('\n', 1)[0] ?? '';
    return [...section.matchAll(PLACE)].map(([, file = '', symbol = '']) => ({ change, file, symbol }));
  });

describe('the worked changes of CONTRIBUTING.md', () => {
  it('are these four, each with its places', () => {
    const changes = [...new Set(places.map(({ change }) => change))];
    expect(changes).toEqual([
      'Add a field to events',
      'Add an endpoint',
      'Add a variable type',
      'Change the deduplication rule',
    ]);
    expect(places.length).toBeGreaterThan(30);
  });

  it.each(places.filter(({ file }) => !ARRIVING.has(file)))('$change: $file has $symbol', ({ file, symbol }) => {
    const path = join(ROOT, file);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(symbol);
  });
});
