import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const EXPORTED = /^export (?:abstract )?(?:class|function\*?|async function\*?|interface|type|const) (\w+)/gm;

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => join(folder, path));
}

it('no two files export the same name', () => {
  const files = new Map<string, string[]>();
  for (const path of sources('src')) {
    for (const [, name = ''] of readFileSync(join(ROOT, path), 'utf8').matchAll(EXPORTED)) {
      files.set(name, [...(files.get(name) ?? []), path]);
    }
  }
  expect(files.size).toBeGreaterThan(500);
  expect([...files].filter(([, paths]) => paths.length > 1)).toEqual([]);
});
