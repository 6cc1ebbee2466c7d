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
  'faults/jobs',
  'browser/campaigns',
  'integration/jobs',
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
  'rounds/mutations',
  'rounds/ingest-from-memory',
  'rounds/unread-answers',
  'rounds/profile-erasure',
  'processes/postgres-upgrade',
  'processes/recipes',
  'processes/cds-state-export',
  'e2e/event-retention',
  'e2e/cds-configuration',
  'integration/database-copy',
  'e2e/backfills',
  'e2e/webhook-outages',
  'faults/backfill',
  'rounds/variables-limits',
  'e2e/overload',
  'rounds/processing-failures',
  'e2e/webhook-changes',
  'e2e/openapi-examples',
  'e2e/database-clock-set-back',
  'processes/cds-events-send-troubles',
  'faults/shutdown',
  'processes/typescript-package',
  'faults/worker-metrics',
  'faults/keys-on-two-nodes',
  'processes/demo',
].map((name) => join(TESTS, `${name}.spec.ts`));
/** While one waits, others have the cores: so many at least begin between two of them. */
const BETWEEN = 3;
/** Where there are many others, these are spread over such a part of them. None is left for the end. */
const SPREAD = 0.6;

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
    const between = Math.max(BETWEEN, Math.floor((SPREAD * order.length) / slow.length));
    slow.forEach((test, index) => order.splice(index * (between + 1), 0, test));
    return order;
  }
}

module.exports = SlowOnesApartSequencer;
