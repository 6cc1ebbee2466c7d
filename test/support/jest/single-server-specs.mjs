/** Specs that need a single server, each with the reason. */
export const SINGLE_SERVER_SPECS = {
  'test/e2e/database-account.spec.ts': 'ends the sessions of one server',
  'test/e2e/database-away.spec.ts': 'breaks the connections to one server',
  'test/e2e/database-read-only.spec.ts': 'makes one server read-only',
  'test/e2e/database-settings.spec.ts': 'sets a database on one server, and looks at its sessions there',
  'test/integration/shard-statements.spec.ts': 'makes the tables of one server look like shards',
  'test/processes/cds-backup.spec.ts': 'backs up one server, which is refused on a cluster',
  'test/processes/poolers.spec.ts': 'the nodes do not know the user of its pooler',
};
