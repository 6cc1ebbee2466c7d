import process from 'node:process';
import { distribute } from '../../dist/src/platform/postgres/distribution/distribute.js';
import { migrate } from '../../dist/src/platform/postgres/schema/migrate.js';
import { withClient } from './server.mjs';

/**
 * The Citus cluster at TEST_CITUS_URL, as `startServer` gives one server. Its databases are distributed when they are made. The
 * CPU time of its processes is not measured.
 */
export async function citusServer(pid) {
  const coordinator = process.env.TEST_CITUS_URL;
  if (coordinator === undefined) {
    throw new Error('Set TEST_CITUS_URL to the coordinator of a Citus cluster, as for npm run test:citus.');
  }
  const urlOn = (node, database) => {
    const url = new URL(coordinator);
    if (node !== undefined) url.host = `${node.nodename}:${node.nodeport}`;
    url.pathname = `/${database}`;
    return url.href;
  };
  const query = (database, text, values) =>
    withClient(urlOn(undefined, database), (client) => client.query(text, values));
  const { rows: nodes } = await query(
    'postgres',
    `SELECT nodename, nodeport, groupid = 0 AS coordinator FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid`,
  );
  const onEach = async (database, text) => {
    for (const node of nodes) {
      const url = urlOn(node.coordinator ? undefined : node, database);
      await withClient(url, (client) => client.query(text));
    }
  };
  return {
    pid,
    urlOf: (database) => urlOn(undefined, database),
    query,
    checkpoint: () => onEach('postgres', 'CHECKPOINT'),
    /** A distributed database, instead of one that is there. */
    createDatabase: async (name) => {
      await onEach('postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await onEach('postgres', `CREATE DATABASE ${name}`);
      await onEach(name, 'CREATE EXTENSION IF NOT EXISTS citus');
      for (const { nodename, nodeport, coordinator: isFirst } of nodes) {
        const add = isFirst ? 'citus_set_coordinator_host' : 'citus_add_node';
        await query(name, `SELECT ${add}($1, $2)`, [nodename, nodeport]);
      }
      const url = urlOn(undefined, name);
      await migrate({ url });
      await distribute({ url }, () => undefined);
    },
  };
}
