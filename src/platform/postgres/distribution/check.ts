import type { ConnectionSettings } from '../connection-settings';
import { SteadyClient } from '../steady-client';
import { assertCluster, foundTables, workerNodes, type WorkerNode } from './distributed-tables';
import { distributionPlan } from './plan';
import { COORDINATOR_TABLES } from './tables';

/** Where the tables of a database are. */
export interface DistributionReport {
  readonly tables: readonly ReportedTable[];
  readonly nodes: readonly WorkerNode[];
  /** What an operator has to do, a sentence each; empty when everything is in its place. */
  readonly missing: readonly string[];
}

interface ReportedTable {
  readonly name: string;
  readonly where: string;
  readonly fault: string | undefined;
}

/** Looks where each table of the schema is, and what is missing. Throws unless the database is a coordinator of a cluster. */
export async function checkDistribution({ url }: ConnectionSettings): Promise<DistributionReport> {
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-distribution' });
  await client.connect();
  try {
    await assertCluster(client);
    const nodes = await workerNodes(client);
    const { tables, absent, unknown } = distributionPlan(await foundTables(client));
    const faulty = tables.filter(({ fault }) => fault !== undefined).map(({ table }) => table.name);
    return {
      tables: tables.map(({ table: { name, place, colocation }, fault }) => ({
        name,
        where: place === 'distributed' ? `worker nodes, by tenant_id (group ${colocation})` : 'coordinator',
        fault,
      })),
      nodes,
      missing: [
        ...sentence(faulty, `not in their place: stop the service and run ${commandFor(faulty)}`),
        ...sentence(absent, 'missing: run npm run migrate, then cds db distribute'),
        ...sentence(unknown, 'not known to this version: run the version that made them'),
        ...nodes.filter(({ isActive }) => !isActive).map(({ name }) => `The worker node ${name} is not active.`),
      ],
    };
  } finally {
    await client.end();
  }
}

function sentence(names: readonly string[], words: string): string[] {
  return names.length === 0 ? [] : [`Tables ${words} (${names.join(', ')}).`];
}

/** A table of the coordinator that was distributed by hand can only be brought back. */
function commandFor(names: readonly string[]): string {
  return names.some((name) => COORDINATOR_TABLES.includes(name))
    ? 'cds db undistribute, then cds db distribute'
    : 'cds db distribute';
}
