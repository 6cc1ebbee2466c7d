import { usesCitus } from './citus';
import { databaseOf, freshDatabaseUrl, serversOf, withClient } from './database';
import { stopSharedInWorker } from './shared';

const HOUR_MS = 60 * 60 * 1000;
const DAY_HOURS = 24;

/** A database whose clock the test sets, for every node that is started on it. */
export interface ClockedDatabase {
  readonly url: string;
  /** Sets the clock so many milliseconds before `boundary`, and lets it go on from there. */
  setBefore(ms: number): Promise<void>;
  /** Sets the clock to a time, and lets it go on from there. */
  setTo(time: Date): Promise<void>;
  /** Sets the clock so many days further ahead. */
  passDays(days: number): Promise<void>;
  /** The next full hour. */
  readonly boundary: Date;
  /** A time zone in which a day begins then. */
  readonly timezone: string;
}

/**
 * The functions of the test stand before PostgreSQL's own ones in the search path. In SQL itself, Citus would plan them at each
 * call. A process knows one time, that of its
 * database, so that no service on another one may run beside.
 */
export async function aClockedDatabase(name: string): Promise<ClockedDatabase> {
  await stopSharedInWorker();
  const url = await freshDatabaseUrl(name);
  const servers = await serversOf(url);
  const run = (text: string, values: readonly unknown[] = []) =>
    Promise.all(servers.map((server) => runOn(server, text, values)));
  await run('CREATE SCHEMA test_clock');
  await run(`CREATE TABLE test_clock.ahead AS SELECT interval '0' AS by`);
  await run(`CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql VOLATILE
    AS 'BEGIN RETURN pg_catalog.clock_timestamp() + (SELECT by FROM test_clock.ahead); END'`);
  await run(`CREATE FUNCTION test_clock.statement_timestamp() RETURNS timestamptz LANGUAGE plpgsql STABLE
    AS 'BEGIN RETURN pg_catalog.statement_timestamp() + (SELECT by FROM test_clock.ahead); END'`);
  await run(`ALTER DATABASE ${databaseOf(url)} SET search_path = public, test_clock, pg_catalog`);
  const setTo = (time: Date) =>
    run(`UPDATE test_clock.ahead SET by = $1::timestamptz - pg_catalog.clock_timestamp()`, [time]);
  const boundary = new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS);
  return {
    url,
    boundary,
    timezone: zoneOfMidnight(boundary.getUTCHours()),
    passDays: async (days) => {
      await run(`UPDATE test_clock.ahead SET by = by + $1 * interval '1 day'`, [days]);
    },
    setTo: async (time) => {
      await setTo(time);
    },
    setBefore: async (ms) => {
      await setTo(new Date(boundary.getTime() - ms));
    },
  };
}

/** On a cluster each server has a clock of its own, so that the coordinator hands on nothing of it. */
async function runOn(server: string, text: string, values: readonly unknown[]): Promise<void> {
  await withClient(server, async (client) => {
    if (usesCitus) await client.query('SET citus.enable_ddl_propagation = off');
    await client.query(text, [...values]);
  });
}

/** Names of such zones have the sign the other way round: Etc/GMT+5 is five hours behind UTC. */
function zoneOfMidnight(hour: number): string {
  if (hour === 0) return 'UTC';
  return hour <= DAY_HOURS / 2 ? `Etc/GMT+${hour}` : `Etc/GMT-${DAY_HOURS - hour}`;
}
