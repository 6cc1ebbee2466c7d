const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { jestsOwn } = require('./jests-own.cjs');

const { default: Sequencer } = jestsOwn('@jest/test-sequencer', 'jest-config');

const TESTS = join(module.path, '..', '..');
/** What takes twelve seconds and more on an idle machine, much of it waiting; the slowest come first. */
const SLOW = [
  'faults/webhooks',
  'browser/ingest-pages',
  'browser/review',
  'processes/cds-events-export',
  'processes/bootstrap',
  'browser/campaigns',
  'integration/jobs',
  'e2e/erasure',
  'browser/sign-in',
  'browser/session',
  'browser/access',
  'processes/secrets-key',
  'processes/embedded-postgres',
  'browser/customers',
  'faults/rounds',
  'rounds/one-workspace',
  'browser/webhooks',
  'faults/narrowed-limits',
  'faults/killed-attempts',
  'processes/cds-events-export-troubles',
  'processes/cds-backup',
  'processes/typescript-patience',
  'browser/event-types',
  'e2e/hostile-bodies',
  'rounds/mutations',
  'e2e/openapi-answers',
  'rounds/ingest-from-memory',
  'e2e/webhook-replays',
  'rounds/unread-answers',
  'rounds/profile-erasure',
  'processes/postgres-upgrade',
  'processes/recipes',
  'processes/cds-state-export',
  'e2e/backfills',
  'faults/backfill',
  'rounds/variables-limits',
  'e2e/overload',
  'rounds/processing-failures',
  'e2e/webhook-changes',
  'e2e/openapi-examples',
  'processes/cds-events-send-troubles',
  'faults/shutdown',
  'processes/typescript-package',
  'faults/worker-metrics',
  'faults/keys-on-two-nodes',
  'processes/demo',
  'e2e/health',
].map((name) => join(TESTS, `${name}.spec.ts`));
/** So many others begin between two of them: while one waits, the others have the cores, and none is left for the end. */
const BETWEEN = 3;

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
