/** Exactly once with one workspace in each commit (docs/adr/0062); test/rounds/one-workspace.spec.ts has further specs. */
const SPECS = ['ingest-deduplication', 'runtime-mutation-ids'];

process.env['TEST_WORKSPACES_PER_COMMIT'] = 'one';
describe.each(SPECS)('with one workspace in each commit: %s', (name) => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a spec registers its tests when it is loaded
  require(`./${name}.spec`);
});
