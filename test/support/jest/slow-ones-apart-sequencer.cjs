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
  'e2e/cds-events-export',
  'e2e/bootstrap',
  'browser/campaigns',
  'integration/jobs',
  'e2e/erasure',
  'browser/sign-in',
  'browser/access',
  'e2e/secrets-key',
  'integration/embedded-postgres',
  'browser/customers',
  'faults/rounds',
  'integration/one-workspace',
  'browser/webhooks',
  'faults/narrowed-limits',
  'faults/killed-attempts',
  'e2e/cds-events-export-troubles',
  'e2e/cds-backup',
  'clients/typescript-patience',
  'browser/event-types',
  'e2e/hostile-bodies',
  'integration/mutations',
  'e2e/openapi-answers',
  'integration/ingest-from-memory',
  'e2e/webhook-replays',
  'e2e/unread-answers',
  'integration/profile-erasure',
  'e2e/postgres-upgrade',
  'e2e/recipes',
  'e2e/cds-state-export',
  'e2e/backfills',
  'faults/backfill',
  'e2e/variables-limits',
  'e2e/overload',
  'integration/processing-failures',
  'e2e/webhook-changes',
  'e2e/openapi-examples',
  'e2e/cds-events-send-troubles',
  'faults/shutdown',
  'clients/typescript-package',
  'faults/worker-metrics',
  'faults/keys-on-two-nodes',
  'e2e/demo',
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
