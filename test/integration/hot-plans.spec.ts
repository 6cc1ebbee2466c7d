import * as identity from '../../src/identity/profile.sql';
import { READ_PARTED } from '../../src/identity/separations.sql';
import * as expiry from '../../src/ingest/expiry/event-expiry.sql';
import * as ingest from '../../src/ingest/store/event.sql';
import * as queue from '../../src/ingest/queue/event-queue.sql';
import { HOT_PATH_PLANNING } from '../../src/platform/postgres/pipelined-connection';
import { oneWorkspaceStatement } from '../../src/platform/postgres/one-workspace';
import * as processing from '../../src/processing/processing.sql';
import * as waiting from '../../src/processing/waiting-events.sql';
import * as backfill from '../../src/reactions/backfill/backfill.sql';
import * as changes from '../../src/webhooks/change.sql';
import * as windows from '../../src/processing/event-window.sql';
import * as deliveries from '../../src/webhooks/delivery/delivery.sql';
import * as replays from '../../src/webhooks/replay/webhook-replay.sql';
import { databaseUrl, withClient } from '../support/database';
import { HOT_STATEMENTS } from '../support/hot-statements';
import { startNode } from '../support/ingest';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** How many columns of each index have to be given for a look-up to find single rows, or one customer's. */
const KEYS_OF_INDEX: Readonly<Record<string, number>> = {
  events_pkey: 2,
  // An event id is made from its workspace too.
  expired_events_event_idx: 1,
  expired_events_other_event_idx: 1,
  profiles_pkey: 2,
  profiles_members_idx: 2,
  profile_identifiers_pkey: 3,
  profile_merges_pkey: 2,
  profile_merges_undone_idx: 2,
  profile_merges_into_idx: 2,
  undone_merge_sides_pkey: 2,
  undone_merge_sides_merge_idx: 2,
  unlinked_identifiers_event_idx: 2,
  erased_identifiers_pkey: 2,
  review_entries_pkey: 2,
  review_entries_open_idx: 2,
  // The few connections that have written for a workspace in a day.
  review_bytes_pkey: 2,
  participant_states_pkey: 3,
  shared_values_pkey: 4,
  campaigns_pkey: 2,
  mutation_outcomes_pkey: 4,
  event_queue_pkey: 5,
  event_processing_pkey: 2,
  event_processing_failed_idx: 2,
  queued_bundles_pkey: 2,
  queue_leases_pkey: 2,
  queue_turns_pkey: 2,
  parked_events_pkey: 5,
  parked_events_due_idx: 2,
  waiting_events_pkey: 5,
  reaction_sets_pkey: 1,
  reactions_event_type_idx: 2,
  reactions_pkey: 3,
  reaction_backfills_pkey: 4,
  reaction_backfill_marks_pkey: 3,
  webhook_changes_pkey: 2,
  webhook_sets_pkey: 1,
  webhook_rules_event_type_idx: 2,
  webhook_endpoints_pkey: 2,
  webhook_deliveries_pkey: 3,
  webhook_deliveries_profile_idx: 3,
  webhook_queues_pkey: 3,
  webhook_replays_pkey: 3,
  webhook_queues_due_idx: 2,
};

/** What reads a range of an index, or its next entry, gives the columns before those that order it. */
const KEYS_OF_RANGES: Readonly<Record<string, typeof KEYS_OF_INDEX>> = {
  // The oldest events of a workspace, in the order of receipt.
  [expiry.FIND_OLD_EVENTS.name]: { events_received_idx: 1 },
  // The next place behind another one, whatever workspace it is of.
  [queue.FIND_PARTITIONS.name]: { event_queue_pkey: 0 },
  // The entries of a place, or parked for a profile, in their order.
  [queue.READ_ENTRIES.name]: { event_queue_pkey: 2 },
  [queue.FIRST_ENTRIES.name]: { event_queue_pkey: 2 },
  // The last entry of a workspace that is ahead of the clock.
  [ingest.INSERT_QUEUE_ENTRIES.name]: {
    event_queue_queued_idx: 1,
    parked_events_queued_idx: 1,
    waiting_events_queued_idx: 1,
  },
  [ingest.READ_QUEUE_STAMP.name]: {
    event_queue_queued_idx: 1,
    parked_events_queued_idx: 1,
    waiting_events_queued_idx: 1,
  },
  // The next bundles, whatever workspace they are of.
  [queue.PROCESS_BUNDLES.name]: { queued_bundles_pkey: 0 },
  [queue.FIND_WORKSPACES_WITH_BUNDLES.name]: { queued_bundles_pkey: 0 },
  [queue.TAKE_BUNDLES.name]: { queued_bundles_pkey: 1 },
  [processing.FIRST_PARKED.name]: { parked_events_pkey: 2, parked_events_queued_idx: 1 },
  [processing.RELEASE_ENTRIES.name]: { parked_events_pkey: 2 },
  [processing.WAKE_FIRST.name]: { parked_events_pkey: 2 },
  // What waits at a profile, in its order; what has waited longest in a workspace; the next workspace.
  [waiting.FIRST_WAITING.name]: { waiting_events_pkey: 2, waiting_events_queued_idx: 1 },
  [waiting.LOCK_OLDEST_WAITING.name]: { waiting_events_pkey: 2 },
  [waiting.REMOVE_WAITING_OF_PROFILES.name]: { waiting_events_pkey: 2 },
  [waiting.LOCK_EXPIRED_WAITING.name]: { waiting_events_queued_idx: 1 },
  // Any of a workspace.
  [identity.FIND_WITH_ERASED.name]: { erased_identifiers_pkey: 1 },
  [identity.FAIL_IF_ANY_ERASED.name]: { erased_identifiers_pkey: 1 },
  [identity.FIND_ANY_ERASURE.name]: { erasures_pkey: 1 },
  [READ_PARTED.name]: { profile_merges_undone_idx: 1 },
  // The next events of a workspace by receipt.
  [windows.READ_WINDOW.name]: { events_received_idx: 1 },
  [windows.COUNT_WINDOW.name]: { events_received_idx: 1 },
  [backfill.MARK_WINDOW.name]: { events_received_idx: 1 },
  // The events of a workspace that are ahead of the clock.
  [backfill.LOCK_BACKFILL.name]: { events_received_idx: 1 },
  // Some marks of a backfill that is over.
  [backfill.REMOVE_MARKS.name]: { reaction_backfill_marks_pkey: 2 },
  // The next changes of a workspace, and the next workspace that has any.
  [changes.TAKE_CHANGES.name]: { webhook_changes_waiting_idx: 1 },
  [changes.FIND_CHANGED_WORKSPACES.name]: { webhook_changes_waiting_idx: 0 },
  // The next endpoint behind another one, whatever workspace it is of.
  [deliveries.FIND_ENDPOINTS.name]: { webhook_queues_due_idx: 0 },
  // The rules of an endpoint; some of its deliveries that wait.
  [replays.READ_RULES_OF_ENDPOINT.name]: { webhook_rules_pkey: 2 },
  [replays.COUNT_PENDING.name]: { webhook_deliveries_state_idx: 3 },
  [waiting.NEXT_WAITING_TENANT.name]: { waiting_events_queued_idx: 0 },
};

/** The index of a partition goes by the name of its week; it is one like those of all others. */
const withoutWeek = (index: string): string =>
  index.replace(/^(mutation_outcomes|value_changes)_\d{4}_\d{2}_\d{2}_/, '$1_');

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** What the planner believes of the tables: a look-up for each of these rows would cost more than to read a table once. */
const MANY_ROWS = `UPDATE pg_class SET reltuples = 1e6, relpages = 10 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

describe('the statements of the hot path', () => {
  // A partitioned table without a partition is looked up in no time.
  beforeAll(async () => (await startNode(await databaseUrl())).close());

  // The plan is made once, on tables that are empty and were never analysed, and kept while they grow to millions.
  it.each(HOT_STATEMENTS.map((statement) => [statement.name, statement] as const))(
    '%s looks rows up by index under the plan that a connection keeps',
    async (name, { text }) => {
      const nodes = await withClient(await databaseUrl(), async (client) => {
        for (const [setting, value] of Object.entries(HOT_PATH_PLANNING))
          await client.query(`SET ${setting} = ${value}`);
        const explained = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
          `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
        );
        return explained.rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan)));
      });
      const scans = nodes.filter((node) => node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable');
      expect(scans.filter((node) => !/^(Index|Index Only|Tid) Scan$/.test(node['Node Type']))).toEqual([]);
      // An index entered by the workspace alone is a walk through all rows of that workspace.
      for (const { 'Index Name': ofPartition = '', 'Index Cond': condition = '' } of scans) {
        const index = withoutWeek(ofPartition);
        const keysUsed = condition.split(' = ').length - 1;
        const wanted = [KEYS_OF_INDEX[index], KEYS_OF_RANGES[name]?.[index]].filter((keys) => keys !== undefined);
        expect({ index, keysUsed, wanted }).toMatchObject({ keysUsed: wanted.includes(keysUsed) ? keysUsed : wanted });
      }
      expect(nodes.filter((node) => /Hash|Merge/.test(node['Node Type']))).toEqual([]);
    },
  );

  it.each(HOT_STATEMENTS.map((statement) => [statement.name, statement] as const))(
    '%s reads no table whole to look single rows up, however large it thinks the tables are',
    async (_name, { text }) => {
      const plan = await withClient(await databaseUrl(), async (client) => {
        const settings = { ...HOT_PATH_PLANNING, random_page_cost: 1_000_000, cpu_index_tuple_cost: 1_000_000 };
        for (const [setting, value] of Object.entries(settings)) await client.query(`SET ${setting} = ${value}`);
        await client.query('BEGIN');
        await client.query(MANY_ROWS);
        const explained = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN, VERBOSE) ${text}`);
        await client.query('ROLLBACK');
        return explained.rows.map((row) => row['QUERY PLAN']);
      });
      expect(plan.filter((line) => line.includes('hashed SubPlan'))).toEqual([]);
    },
  );

  it('have names of their own, since a connection keeps one plan a name, also in the form for one workspace', () => {
    const names = HOT_STATEMENTS.flatMap((each) => [each.name, oneWorkspaceStatement(each).name]);
    expect(new Set(names).size).toBe(names.length);
  });

  // In VALUES, `clock_timestamp()` would differ from column to column, and a cluster refuses it in a change.
  it('read one time only, in the form for one workspace', () => {
    const withClock = HOT_STATEMENTS.filter((each) => oneWorkspaceStatement(each).text.includes('clock_timestamp()'));
    expect(withClock.map(({ name }) => name)).toEqual([]);
  });
});
