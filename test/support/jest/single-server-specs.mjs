/** Specs that take the one server away, or put a pooler before it; on a cluster the nodes go on without. With their reasons. */
export const SINGLE_SERVER_SPECS = {
  'test/e2e/database-account.spec.ts': 'ends the sessions of one server',
  'test/e2e/database-away.spec.ts': 'breaks the connections to one server',
  'test/e2e/database-read-only.spec.ts': 'makes one server read-only',
  'test/e2e/poolers.spec.ts': 'the nodes do not know the user of its pooler',
};
