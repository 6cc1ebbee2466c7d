import { onShard, type ShardNames } from '../shard-names';
import type { Statement } from '../statement';

/** All tables are co-located: what is true of the shard of this table is true of the others. */
const TABLE = 'events';

/** The shard of a workspace. */
export const FIND_SHARD: Statement = {
  name: 'distribution_find_shard',
  text: `SELECT get_shard_id_for_distribution_column('${TABLE}', $1::uuid)::text AS shard`,
};

/** Where each shard is. */
export const FIND_PLACEMENTS: Statement = {
  name: 'distribution_find_placements',
  text: `
    SELECT s.shardid::text AS shard, n.nodename AS host, n.nodeport AS port, n.groupid = 0 AS "isCoordinator"
    FROM pg_dist_shard s
    JOIN pg_dist_placement p ON p.shardid = s.shardid
    JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    WHERE s.logicalrelid = '${TABLE}'::regclass ORDER BY s.shardid`,
};

/** The shards of all tables that are co-located with that one; those with the same start are on one node. */
export const FIND_SHARDS: Statement = {
  name: 'distribution_find_shards',
  text: `
    SELECT c.relname AS "table", s.shardid::text AS shard, s.shardminvalue AS start
    FROM pg_dist_shard s
    JOIN pg_dist_partition d ON d.logicalrelid = s.logicalrelid
    JOIN pg_class c ON c.oid = s.logicalrelid
    WHERE d.colocationid = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = '${TABLE}'::regclass)`,
};

export interface Placement {
  readonly shard: string;
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

export interface Shard {
  readonly table: string;
  readonly shard: string;
  readonly start: string;
}

/** The shards of a node. */
export interface NodeShards {
  readonly node: string;
  readonly shards: readonly ShardNames[];
}

/** The names of all shards by their nodes. `placements`: the nodes of the shards of the one table. */
export function shardsByNode(shards: readonly Shard[], placements: ReadonlyMap<string, string>): NodeShards[] {
  const byStart = new Map<string, Map<string, string>>();
  const nodeOf = new Map<string, string>();
  for (const { table, shard, start } of shards) {
    byStart.set(start, (byStart.get(start) ?? new Map<string, string>()).set(table, `${table}_${shard}`));
    const node = table === TABLE ? placements.get(shard) : undefined;
    if (node !== undefined) nodeOf.set(start, node);
  }
  return [...new Set(nodeOf.values())].map((node) => ({
    node,
    shards: [...byStart].flatMap(([start, names]) => (nodeOf.get(start) === node ? [names] : [])),
  }));
}

/** The same by the number of the shard that stands for those with it. */
export function shardsById(nodes: readonly NodeShards[]): ReadonlyMap<string, ShardNames> {
  const named = nodes.flatMap(({ shards }) => shards);
  return new Map(named.map((names) => [(names.get(TABLE) ?? '').slice(TABLE.length + 1), names]));
}

/** A query for all shards of a node. */
export function onShards(text: string, shards: readonly ShardNames[]): string {
  return shards.map((names) => `SELECT * FROM (${onShard(text, names)}\n) shard`).join('\nUNION ALL\n');
}

/** The same database on another server, by the address that the coordinator knows it by. */
export function urlOf(coordinator: string, { host, port, isCoordinator }: Placement): string {
  if (isCoordinator) return coordinator;
  const url = new URL(coordinator.replace(/@(?=\/)/, '@localhost'));
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.port = String(port);
  for (const name of ['host', 'port']) url.searchParams.delete(name);
  return url.href;
}
