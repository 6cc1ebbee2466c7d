import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKER_FLAGS } from '../../src/server/cluster/worker-flags';
import { runNode } from '../support/run-node';

const DIST = join(__dirname, '..', '..', 'dist');
/** Only this Node.js takes it: another one with the same V8 could crash on it. */
const CACHE = `bundle.${process.version}-${process.arch}.cache`;
const WORKER_CACHE = CACHE.replace(/cache$/, 'worker.cache');
/** Whether V8 has taken the cache, asked in a process with the flags of the service. */
const IS_REJECTED = isRejected(CACHE);

function isRejected(cache: string): string {
  return `
  const { readFileSync } = require('node:fs');
  const [source, cachedData] = [readFileSync('bundle.js', 'latin1'), readFileSync('${cache}')];
  const script = new (require('node:vm').Script)(source, { cachedData });
  console.log(script.cachedDataRejected);`;
}

let folder: string;
let cache: Buffer;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cds-bundle-cache-'));
  // Links are resolved to their targets, so the loader has to be a file.
  for (const name of ['cds.js', 'load-bundle.cjs']) copyFileSync(join(DIST, name), join(folder, name));
  symlinkSync(join(DIST, 'bundle.js'), join(folder, 'bundle.js'));
  cache = readFileSync(join(DIST, CACHE));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the code cache is accepted by the Node.js that has built it', async () => {
  expect(await runNode(DIST, ['-e', IS_REJECTED])).toBe('false\n');
});

it('that of workers is accepted with their flags, and only with these', async () => {
  expect(await runNode(DIST, [...WORKER_FLAGS, '-e', isRejected(WORKER_CACHE)])).toBe('false\n');
  expect(await runNode(DIST, ['-e', isRejected(WORKER_CACHE)])).toBe('true\n');
});

it('a cache of another version of V8, one that is cut short, and none at all change nothing but the time', async () => {
  const help = await runNode(DIST, ['cds.js', '--help']);
  expect(help).toContain('events');
  expect(await runNode(folder, ['cds.js', '--help'])).toBe(help);
  const ofAnotherVersion = Buffer.from(cache);
  // The second word of the file.
  ofAnotherVersion.writeUInt32LE(ofAnotherVersion.readUInt32LE(4) + 1, 4);
  for (const refused of [ofAnotherVersion, cache.subarray(0, -1_000)]) {
    writeFileSync(join(folder, CACHE), refused);
    expect(await runNode(folder, ['-e', IS_REJECTED])).toBe('true\n');
    expect(await runNode(folder, ['cds.js', '--help'])).toBe(help);
  }
});
