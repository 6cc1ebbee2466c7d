import { Command } from 'commander';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import type { DistributionReport } from '../platform/postgres/distribution/check';
import { columns, type Console } from './console';

const WORDS = `Spreads the rows of all workspaces over the worker nodes of a Citus cluster (13.2 or newer). DATABASE_URL must lead to its
coordinator. Stop the service first. All rows of a workspace are on one node; keys, issuers and what belongs to no workspace stay on
the coordinator. A run that was interrupted can be repeated.`;

const WORDS_BACK = `Brings the rows of all workspaces back to the coordinator, which then needs no worker node. Stop the service first.
A run that was interrupted can be repeated.`;

export function dbCommand(console: Console): Command {
  const db = new Command('db').description('The database on several servers (Citus)');
  db.command('distribute')
    .summary('Spreads workspaces over the worker nodes of a Citus cluster')
    .description(WORDS)
    .option('--check', 'change nothing; write where each table is and what is missing (exit code 1: something is)')
    .action((options: { check?: true }) => (options.check === true ? check(console) : spread(console)));
  db.command('undistribute')
    .summary('Brings all workspaces back to one server')
    .description(WORDS_BACK)
    .action(() => bringBack(console));
  return db;
}

async function spread({ onDatabase, say }: Console): Promise<void> {
  const { distribute } = await import('../platform/postgres/distribution/distribute.js');
  await onDatabase(async (database) => {
    const { migrate } = await import('../platform/postgres/schema/migrate.js');
    await migrate(database);
    let tables = 0;
    await distribute(database, ({ name, rows }) => {
      tables += 1;
      say(`${name}: ${rows} rows distributed`);
    });
    say(tables === 0 ? 'All tables were distributed already.' : `Distributed: ${tables} tables.`);
    await expectComplete(database);
  });
}

async function bringBack({ onDatabase, say }: Console): Promise<void> {
  const { undistribute } = await import('../platform/postgres/distribution/distribute.js');
  await onDatabase(async (database) => {
    let tables = 0;
    await undistribute(database, ({ name, rows }) => {
      tables += 1;
      say(`${name}: ${rows} rows on the coordinator`);
    });
    say(tables === 0 ? 'No table is distributed.' : `Back on the coordinator: ${tables} tables.`);
  });
}

async function expectComplete(database: ConnectionSettings): Promise<void> {
  const { checkDistribution } = await import('../platform/postgres/distribution/check.js');
  const { missing } = await checkDistribution(database);
  if (missing.length > 0) throw new Error(missing.join('\n'));
}

async function check({ onDatabase, out }: Console): Promise<void> {
  const { checkDistribution } = await import('../platform/postgres/distribution/check.js');
  const report: DistributionReport = await onDatabase((database) => checkDistribution(database));
  out(
    columns(
      ['table', 'where', 'missing'],
      report.tables.map(({ name, where, fault }) => [name, where, fault ?? '']),
    ),
  );
  out('');
  out(
    columns(
      ['worker node', 'shards', 'state'],
      report.nodes.map(({ name, shards, isActive }) => [name, String(shards), isActive ? 'active' : 'not active']),
    ),
  );
  if (report.missing.length > 0) throw new Error(report.missing.join('\n'));
}
