import { withClient } from './database';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Runs a statement. The nodes of its plan that have read a table. */
async function scansOf(url: string, text: string, values: readonly unknown[]) {
  const [top] = await withClient(url, async (client) => {
    const explained = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      [...values],
    );
    return explained.rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan));
  });
  const nodes = top === undefined ? [] : nodesOf(top);
  return { top, scans: nodes.filter((node) => node['Relation Name'] !== undefined && node['Actual Loops'] > 0) };
}

/** Runs a statement. The rows that it answers, those that it takes from tables, and the indexes by which it finds them. */
export async function rowsOfPlan(url: string, text: string, values: readonly unknown[]) {
  const { top, scans } = await scansOf(url, text, values);
  const taken = scans.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  );
  return {
    shown: top?.['Actual Rows'],
    taken: taken.reduce((sum, rows) => sum + rows, 0),
    indexes: [...new Set(scans.map((node) => node['Index Name']))],
  };
}

/** Runs a statement. How it reads each table, such as `Index Only Scan`, and by which index. */
export async function kindsOfScans(url: string, text: string, values: readonly unknown[]) {
  const { scans } = await scansOf(url, text, values);
  return scans.map((node) => [node['Node Type'], node['Index Name']]);
}
