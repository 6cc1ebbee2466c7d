import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const README_LINES_MAX = 150;
const ARCHITECTURE_WORDS_MAX = 900;
const DECISION_LINES_MAX = 50;
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const decisions = readdirSync(join(ROOT, 'docs', 'adr'))
  .filter((name) => name !== 'README.md')
  .map((name) => join('docs', 'adr', name));

describe('the length of documents', () => {
  it('of README.md is a page or two', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  it('of ARCHITECTURE.md is five minutes of reading', () => {
    expect(read('ARCHITECTURE.md').split(/\s+/).length).toBeLessThanOrEqual(ARCHITECTURE_WORDS_MAX);
  });

  it.each(decisions)('of %s is one page', (path) => {
    expect(read(path).split('\n').length).toBeLessThanOrEqual(DECISION_LINES_MAX);
  });
});

describe('docs/adr/README.md', () => {
  it('lists every decision with its title and whether it is superseded, and no other', () => {
    const listed = [...read('docs/adr/README.md').matchAll(/^\| \[(.+)\]\((.+)\) +\| (.+?) +\|$/gm)];
    const expected = decisions.map((path) => {
      const text = read(path);
      const title = /^# (.+)$/m.exec(text)?.[1];
      const [, part = '', by] = /^Superseded (in part )?by \[0*(\d+)\]/m.exec(text) ?? [];
      return [title, basename(path), by === undefined ? 'in force' : `superseded ${part}by ${by}`];
    });
    expect(listed.map((row) => row.slice(1)).toSorted()).toEqual(expected.toSorted());
  });
});

describe('README.md', () => {
  it('shows figures and ratios that bench/RESULTS.md has, each in one row', () => {
    const results = read('bench/RESULTS.md').split('\n');
    const figures = [...read('README.md').matchAll(/\| ([\d,]+ \w+\/s), ratio ([\d.]+) +\|/g)];
    expect(figures.length).toBeGreaterThan(4);
    const unknown = figures.filter(
      ([, rate = '', ratio = '']) => !results.some((row) => row.includes(`| ${rate} `) && row.includes(`| ${ratio} `)),
    );
    expect(unknown.map(([row]) => row)).toEqual([]);
  });
});

describe('files that documents name', () => {
  const FILE = /`((?:[\w.@-]+\/)*[\w.@-]+\.(?:ts|mjs|cjs|md|json|yaml)|(?:[\w.@-]+\/)+)`/g;
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'bench/NOTES.md',
    'docs/command-line.md',
    'docs/configuration-as-code.md',
    'docs/errors.md',
    'docs/failures.md',
    'docs/glossary.md',
    'docs/operations.md',
    'docs/recipes.md',
    'docs/tour.md',
    'console/README.md',
    'src/cdp/README.md',
    'src/console/README.md',
    'src/identity/README.md',
    'src/ingest/README.md',
    'src/platform/README.md',
    'src/processing/README.md',
    'src/reactions/README.md',
    'src/reactions/backfill/README.md',
    'src/replay/README.md',
    'src/review/README.md',
    'src/runtime/README.md',
    'src/statistics/README.md',
    'src/variables/README.md',
    'src/webhooks/README.md',
    ...decisions,
  ];
  /** Made by commands, or by the clients of the service. */
  const MADE = new Set([
    'dist/',
    'dist/src/',
    'dist/main.js',
    'src/metadata.ts',
    'events.ndjson.state.json',
    'NAME.state.json',
    'send-signed.ts',
  ]);
  const names = new Set(
    ['src', 'test', 'bench', 'scripts', 'ops', 'docs', 'clients'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => basename(path)),
    ),
  );

  /** A path from the root, from the document, or from `src` below one of them; or the name of a file or folder anywhere. */
  function isThere(path: string, document: string): boolean {
    const places = ['', dirname(document)].flatMap((folder) => [join(folder, path), join(folder, 'src', path)]);
    if (places.some((place) => existsSync(join(ROOT, place)))) return true;
    const name = path.replace(/\/$/, '');
    return !name.includes('/') && names.has(name);
  }

  it.each(documents)('%s: exist', (document) => {
    const named = [...read(document).matchAll(FILE)].map(([, path = '']) => path).filter((path) => !MADE.has(path));
    expect([...new Set(named)].filter((path) => !isThere(path, document))).toEqual([]);
  });
});

describe('the arrows of ARCHITECTURE.md', () => {
  interface Rule {
    readonly name: string;
    readonly to: { readonly path: string };
  }

  it('are those that .dependency-cruiser.cjs allows', async () => {
    const { forbidden } = (await import(join(ROOT, '.dependency-cruiser.cjs'))) as { forbidden: readonly Rule[] };
    const rules = forbidden.flatMap(({ name, to }) => {
      const feature = /^(.+)-reaches-only-its-arrows$/.exec(name)?.[1];
      return feature === undefined ? [] : [{ feature, others: (/\((.+)\)/.exec(to.path)?.[1] ?? '').split('|') }];
    });
    const features = rules.map(({ feature }) => feature);
    const allowed = rules.flatMap(({ feature, others }) =>
      features.filter((other) => other !== feature && !others.includes(other)).map((other) => `${feature} → ${other}`),
    );
    const drawn = [...read('ARCHITECTURE.md').matchAll(/^- `([^`]+→[^`]+)`$/gm)].flatMap(([, chain = '']) => {
      const steps = chain.split(' → ');
      return steps.slice(1).flatMap((to, index) => to.split(', ').map((other) => `${steps[index]} → ${other}`));
    });
    expect(drawn.toSorted()).toEqual(allowed.toSorted());
  });
});

describe('the worked changes of CONTRIBUTING.md', () => {
  /** A row of a table of CONTRIBUTING.md: a file, a symbol in it, and what to change. */
  const PLACE = /^\| `([^`]+)` +\| `([^`]+)` +\| .*\|$/gm;
  const places = read('CONTRIBUTING.md')
    .split(/^### /m)
    .slice(1)
    .flatMap((section) => {
      const change = section.split('\n', 1)[0] ?? '';
      return [...section.matchAll(PLACE)].map(([, file = '', symbol = '']) => ({ change, file, symbol }));
    });

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

  it.each(places)('$change: $file has $symbol', ({ file, symbol }) => {
    const path = join(ROOT, file);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toContain(symbol);
  });
});
