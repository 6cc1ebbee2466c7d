import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');
const PLATFORM = join(ROOT, 'src', 'platform');

/** The folders of `files` that each folder imports from; a folder stands for its own files, without those of its sub-folders. */
function folderGraph(files: readonly string[]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = dirname(file);
    const targets = graph.get(folder) ?? new Set<string>();
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
      const target = fileName.startsWith('.') ? dirname(resolve(folder, fileName)) : folder;
      if (target !== folder && target.startsWith(PLATFORM)) targets.add(target);
    }
    graph.set(folder, targets);
  }
  return graph;
}

/** Folders that import each other, directly or through others. */
function circles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const reachable = (from: string): Set<string> => {
    const seen = new Set<string>();
    const waiting = [...(graph.get(from) ?? [])];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      waiting.push(...(graph.get(folder) ?? []));
    }
    return seen;
  };
  return [...graph.keys()].filter((folder) => reachable(folder).has(folder));
}

describe('the folders of src/platform', () => {
  it('import each other in one direction only', () => {
    const files = readdirSync(PLATFORM, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .map((name) => join(PLATFORM, name));
    expect(files.length).toBeGreaterThan(100);
    expect(circles(folderGraph(files)).map((folder) => relative(ROOT, folder))).toEqual([]);
  });

  it('are found where they import each other', () => {
    const graph = new Map([
      ['a', new Set(['b'])],
      ['b', new Set(['c'])],
      ['c', new Set(['a'])],
      ['d', new Set(['a'])],
    ]);
    expect(circles(graph)).toEqual(['a', 'b', 'c']);
  });
});
