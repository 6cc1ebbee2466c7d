import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parsePurchases, type Purchase } from './cdnow';
import { ClientFailure } from '../cli/running-service';

const SAMPLE = join('data', 'cdnow', 'cdnow-sample.txt');

/** The sample that comes with the project, wherever the demo is called from. */
export function readSample(): readonly Purchase[] {
  return parsePurchases(readFileSync(findInProject(SAMPLE), 'utf8'));
}

/** Upwards from this file, because the build puts it one folder deeper than the source. */
function findInProject(path: string): string {
  for (let folder = __dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, path);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) throw new ClientFailure(`${path} is missing; it comes with the project.`);
  }
}
