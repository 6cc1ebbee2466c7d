const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { jestsOwn } = require('./jests-own.cjs');

const { default: Sequencer } = jestsOwn('@jest/test-sequencer', 'jest-config');

const TESTS = join(module.path, '..', '..');
/** What takes ten seconds and more, most of them waiting; the slowest come first. */
const SLOW = [
  'faults/rounds',
  'integration/one-workspace',
  'clients/typescript-patience',
  'browser/ingest-pages',
  'browser/sign-in',
  'e2e/cds-backup',
  'e2e/postgres-upgrade',
  'faults/killed-attempts',
  'integration/jobs',
  'e2e/bootstrap',
  'faults/keys-on-two-nodes',
  'e2e/cds-events-export',
  'e2e/cds-events-export-troubles',
  'e2e/cds',
  'e2e/secrets-key',
  'faults/migrate-apart',
  'integration/embedded-postgres',
  'faults/event-retention',
  'faults/worker-metrics',
  'faults/sample-reactions',
  'integration/event-expiry',
  'e2e/backfills',
  'faults/backfill',
  'integration/mutations',
  'e2e/demo',
  'e2e/overload',
  'e2e/start-refusals',
  'e2e/poolers',
  'e2e/jwks-starvation',
  'clients/typescript-package',
  'clients/generated-clients',
  'e2e/authorization-matrix',
].map((name) => join(TESTS, `${name}.spec.ts`));
/** So many others begin between two of them: while one waits, the others have the cores, and none is left for the end. */
const BETWEEN = 6;

/**
 * Jest begins with what took longest the last time, and on a fresh clone with the largest files. The first lets all workers wait
 * together, the second may begin half a minute of waiting when everything else is done.
 */
class SlowOnesApartSequencer extends Sequencer {
  sort(tests) {
    const gone = SLOW.filter((path) => !existsSync(path));
    if (gone.length > 0) throw new Error(`${module.filename} names missing files: ${gone.join(', ')}`);
    const sorted = super.sort(tests);
    const order = sorted.filter(({ path }) => !SLOW.includes(path));
    const slow = SLOW.flatMap((path) => sorted.filter((test) => test.path === path));
    slow.forEach((test, index) => order.splice(index * (BETWEEN + 1), 0, test));
    return order;
  }
}

module.exports = SlowOnesApartSequencer;
