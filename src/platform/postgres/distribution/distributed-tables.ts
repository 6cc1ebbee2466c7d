import type { Client } from 'pg';
import type { FoundTable } from './plan';

/** Of the extension; earlier versions were not tried. */
const VERSION_MIN = [13, 2] as const;

/** The tables of the schema, partitions with their parents, and where Citus has them. Needs the extension. */
export async function foundTables(client: Client): Promise<FoundTable[]> {
  const { rows } = await client.query<FoundTable>(
    `SELECT c.relname AS name,
       CASE d.partmethod WHEN 'h' THEN 'distributed' WHEN 'n' THEN CASE d.repmodel WHEN 't' THEN 'reference' ELSE 'local' END
         ELSE 'local' END AS place,
       CASE d.partmethod WHEN 'h' THEN column_to_column_name(d.logicalrelid, d.partkey) END AS column,
       CASE d.partmethod WHEN 'h' THEN d.colocationid END AS colocation,
       (SELECT coalesce(sum(pg_relation_size(t.relid)), 0)::float8 FROM pg_partition_tree(c.oid) t WHERE t.isleaf)
         AS "leftoverBytes"
     FROM pg_class c
     LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = c.oid AND e.deptype = 'e')
     ORDER BY c.relname`,
  );
  return rows;
}

/** A worker node of the cluster, and how many of its shards hold rows of workspaces. */
export interface WorkerNode {
  readonly name: string;
  readonly isActive: boolean;
  readonly shards: number;
}

export async function workerNodes(client: Client): Promise<WorkerNode[]> {
  const { rows } = await client.query<WorkerNode>(
    `SELECT n.nodename || ':' || n.nodeport AS name, n.isactive AS "isActive",
       (SELECT count(*)::int FROM pg_dist_placement p WHERE p.groupid = n.groupid) AS shards
     FROM pg_dist_node n WHERE n.noderole = 'primary' AND n.shouldhaveshards ORDER BY n.nodeid`,
  );
  return rows;
}

/** Throws an error that says what to do, unless this database can be distributed: it is the coordinator of a cluster. */
export async function assertCluster(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string }>(
    `SELECT extversion AS version FROM pg_extension WHERE extname = 'citus'`,
  );
  const version = rows[0]?.version;
  if (version === undefined) {
    throw new Error(
      'This database has no extension Citus. Install Citus 13.2 or newer, run CREATE EXTENSION citus in this database ' +
        'on every server, and add the worker nodes (docs/operations.md, "More than one database server").',
    );
  }
  if (!isNewEnough(version)) {
    throw new Error(`Citus ${version} is too old: ${VERSION_MIN.join('.')} or newer is needed. Upgrade the extension.`);
  }
  if ((await workerNodes(client)).length === 0) {
    throw new Error(
      'The cluster has no worker node. Add each by SELECT citus_add_node(host, port), and the coordinator itself by ' +
        'SELECT citus_set_coordinator_host(host, port).',
    );
  }
}

/** `version`: of the extension, such as 13.2-1. */
function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  return major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
}
