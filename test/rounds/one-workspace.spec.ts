/**
 * Specs of what clients and operators see, with one workspace in each commit, as on a distributed database (docs/adr/0062).
 * They run on one PostgreSQL here; `npm run test:citus` runs all of them on a cluster, and `npm test` two more as here
 * (test/e2e/one-workspace.spec.ts).
 */
const SPECS = [
  'e2e/ingest-identity',
  'e2e/ingest-dry-run',
  'e2e/erasure-named-in-events',
  'e2e/review-replay',
  'e2e/review-limits',
  'e2e/profile-merges',
  'e2e/runtime-state',
  'e2e/reactions-run',
  'e2e/webhook-changes',
  'e2e/webhook-deliveries',
  'integration/ingest-races',
  'integration/queued-bundles',
];

process.env['TEST_WORKSPACES_PER_COMMIT'] = 'one';
describe.each(SPECS)('with one workspace in each commit: %s', (name) => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a spec registers its tests when it is loaded
  require(`../${name}.spec`);
});
