import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
/** What is written in JavaScript, so that no compiler looks at its imports. */
const FOLDERS = ['bench', 'scripts', 'test'];

/** Paths below src/ or dist/src/ that a file names in its imports. */
function namedSources(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/['"](?:\.\.\/)+(?:dist\/)?(src\/[^'"]+?)(?:\.js)?['"]/g)].map(([, path = '']) => path);
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[mc]js$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

it('finds its own files in a folder with spaces, which the path of a URL has as %20', () => {
  const paths = files.filter((file) => /import\.meta\.url\)\.pathname/.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(paths).toEqual([]);
});

it('finds every source that a script imports', () => {
  const named = files.flatMap((file) => namedSources(file).map((path) => ({ file, path })));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, `${path}.ts`)) && !existsSync(join(ROOT, path)))).toEqual(
    [],
  );
});
