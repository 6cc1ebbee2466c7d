import { INTERNAL_ERROR, sqlStateOf } from './database-errors';
import { oneWorkspaceStatement } from './one-workspace';
import { isLostRace } from './precondition';
import { onShard, ShardStatements, type ShardNames, type WorkspaceShards } from './shard-names';
import type { Statement } from './statement';

type Query = readonly [statement: Statement, values: readonly unknown[]];

/** How the statements of a transaction come to the tables of its workspaces. */
export interface StatementRoute {
  /** What a transaction begins with. */
  readonly opening: readonly Query[];
  /** What a read by itself goes behind; undefined: it takes a transaction. */
  readonly readOpening: readonly Query[] | undefined;
  /** Whether statements are sent in their form for one workspace. */
  readonly usesOneWorkspaceForms: boolean;
  /** The form in which a statement is sent. */
  readonly form: (statement: Statement, values: readonly unknown[]) => Query;
  /** Called when the tables are not there under the names that the route has for them. */
  readonly onGone?: () => void;
}

const BEGIN: Query = [{ name: 'BEGIN', text: 'BEGIN' }, []];
/** For a session that keeps plans: of the plan of a statement by Citus, that keeps some 30 KB more for each execution. */
const PLAN_EACH_TIME: Query = [
  { name: 'SET LOCAL plan_cache_mode', text: 'SET LOCAL plan_cache_mode = force_custom_plan' },
  [],
];
/**
 * Mode 5 is ShareLock, as Citus takes it before it writes. It covers all shards that are co-located with this one, on this node; a
 * move and a split take ExclusiveLock on every node, and wait for this transaction, or it for them.
 */
const HOLD_SHARD: Statement = {
  name: 'distribution_hold_shard',
  text: 'SELECT lock_shard_metadata(5, ARRAY[$1::bigint])',
};
/**
 * Fails (`isLostRace`) unless the shard is on this node. Separate, because the snapshot of a statement is from before its wait for
 * a lock: only the next one sees the move that it waited for.
 */
const ASSERT_SHARD: Statement = {
  name: 'distribution_assert_shard',
  text: `
    SELECT 1 / count(*)::int FROM pg_dist_placement
    WHERE shardid = $1::bigint AND groupid = (SELECT groupid FROM pg_dist_local_group)`,
};

/** To one PostgreSQL, for rows of many workspaces. */
export const TO_ALL_WORKSPACES: StatementRoute = {
  opening: [BEGIN],
  readOpening: [],
  usesOneWorkspaceForms: false,
  form: (statement, values) => [statement, values],
};

/** To one PostgreSQL, for rows of one workspace. */
export function toOneWorkspace(tenantId: string | undefined): StatementRoute {
  return {
    opening: [BEGIN],
    readOpening: [],
    usesOneWorkspaceForms: true,
    form: (statement, values) => {
      const form = oneWorkspaceStatement(statement);
      return [form, form.values(values, tenantId)];
    },
  };
}

/**
 * By Citus, from any node: it plans each statement. The other nodes hear of settings by statements of the transaction only.
 * `keepsPlans`: the session keeps those of statements to shards.
 */
export function byCitus(
  tenantId: string | undefined,
  { lockTimeoutMs, keepsPlans }: { readonly lockTimeoutMs: number; readonly keepsPlans: boolean },
): StatementRoute {
  const text = `SET LOCAL lock_timeout = ${lockTimeoutMs}`;
  const opening: readonly Query[] = [BEGIN, [{ name: 'SET LOCAL lock_timeout', text }, []]];
  const route = toOneWorkspace(tenantId);
  return keepsPlans
    ? { ...route, opening: [...opening, PLAN_EACH_TIME], readOpening: undefined }
    : { ...route, opening };
}

/**
 * To the shards of a workspace by their names, on their node: as to one PostgreSQL, without Citus (docs/adr/0093). Reads by
 * themselves hold nothing, as those by Citus, so that they go on while a shard is moved.
 */
export function toShards({ id, names, onGone }: WorkspaceShards): StatementRoute {
  return {
    opening: [BEGIN, [HOLD_SHARD, [id]], [ASSERT_SHARD, [id]]],
    readOpening: [[ASSERT_SHARD, [id]]],
    usesOneWorkspaceForms: false,
    form: (statement, values) => [
      made.of(names, statement, () => ({ name: `${statement.name}_${id}`, text: onShard(statement.text, names) })),
      values,
    ],
    onGone,
  };
}

const made = new ShardStatements<ShardNames>();

/** Whether what a transaction begins with has failed because the shard is not on this node, or is no more. */
export function isShardGone(error: unknown): boolean {
  return isLostRace(error) || sqlStateOf(error) === INTERNAL_ERROR;
}
