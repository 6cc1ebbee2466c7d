import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { isErrno } from '../../../src/platform/errors/error-summary';
import { CONNECTIONS_MAX, withSession, type Arena } from './arena';
import type { Load } from './load';

/** Something that goes wrong once; resolves when the cause is gone, and counts what it did. */
export type Fault = (arena: Arena, load: Load, round: number) => Promise<number>;

/** Between two faults so much work gets done, so that each of them meets work under way. */
const PROGRESS = process.env['LONG_ROUNDS'] === undefined ? 25 : 60;
const OURS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

export const killService: Fault = async ({ nodes }, load, round) => {
  await load.progress(PROGRESS);
  // Now and then both, so that nobody is left who could go on.
  const victims = round % 10 === 9 ? nodes : [nodes[round % nodes.length]!];
  await Promise.all(victims.map((node) => node.kill()));
  await Promise.all(victims.map((node) => node.start()));
  return victims.length;
};

export const killPostgres: Fault = async (arena, load) => {
  const { postgres, nodes } = arena;
  await load.progress(PROGRESS);
  const before = nodes.map((node) => node.pid());
  await postgres.kill();
  await postgres.start(30_000);
  await load.progress(PROGRESS);
  expectAlive(arena, before);
  return 1;
};

export const terminateBackends: Fault = async (arena, load) => {
  await load.progress(PROGRESS);
  const before = arena.nodes.map((node) => node.pid());
  const ended = await withSession(arena, async (client) => {
    let terminated = 0;
    for (let turn = 0; turn < 8; turn += 1) {
      terminated += (await client.query(`SELECT pg_terminate_backend(pid) ${OURS}`)).rowCount ?? 0;
      await wait(200);
    }
    return terminated;
  });
  expectAlive(arena, before);
  return ended;
};

/** Foreign sessions take every connection that there is, while ours are ended. */
export const takeAllConnections: Fault = async (arena, load) => {
  await load.progress(PROGRESS);
  const taken: Client[] = [];
  try {
    await withSession(arena, async (client) => {
      await client.query(`SELECT pg_terminate_backend(pid) ${OURS}`);
      for (let tried = 0; tried < 3 * CONNECTIONS_MAX; tried += 1) {
        const session = new Client({ connectionString: arena.postgres.url() });
        session.on('error', () => undefined);
        await session.connect().then(
          () => taken.push(session),
          () => wait(20),
        );
      }
    });
    await wait(500);
    return taken.length;
  } finally {
    await Promise.all(taken.map((session) => session.end().catch(() => undefined)));
  }
};

/** Somebody else's transaction holds rows that are in use, and does nothing. */
export const holdLocks: Fault = async (arena, load) => {
  await load.progress(PROGRESS);
  return withSession(arena, async (client) => {
    await client.query('BEGIN');
    let held = 0;
    for (const from of ['profiles', 'participant_states', 'shared_values', 'profile_identifiers']) {
      // What it would have to wait for it leaves out: it is to be in the way, not to be part of a deadlock.
      const sql = `SELECT 1 FROM (SELECT ctid FROM ${from} ORDER BY random() LIMIT 30) picked
        JOIN ${from} hot ON hot.ctid = picked.ctid FOR UPDATE OF hot SKIP LOCKED`;
      held += (await client.query(sql)).rowCount ?? 0;
    }
    await wait(1_200);
    await client.query('ROLLBACK');
    return held;
  });
};

export const cutRequests: Fault = async ({ nodes, odds }, load) => {
  const cuts = (): number =>
    nodes.reduce((sum, { line }) => sum + Object.values(line.cuts).reduce((all, count) => all + count, 0), 0);
  const before = cuts();
  odds.request = 0.15;
  await load.progress(4 * PROGRESS);
  odds.request = 0;
  return cuts() - before;
};

export const cutCommits: Fault = async ({ databaseLine, odds }, load) => {
  const cuts = (): number => Object.values(databaseLine.cuts).reduce((all, count) => all + count, 0);
  const before = cuts();
  odds.commit = 0.25;
  await load.progress(3 * PROGRESS);
  odds.commit = 0;
  return cuts() - before;
};

export const stallDatabase: Fault = async ({ databaseLine }, load, round) => {
  await load.progress(PROGRESS);
  await databaseLine.stall(300 + (round % 4) * 900);
  databaseLine.cutAll();
  return 1;
};

/** Takes all the space under the database, until it can store nothing more, and gives it back. */
export const fillDisk: Fault = async (arena, load) => {
  const { postgres, nodes } = arena;
  await load.progress(PROGRESS);
  const filler = join(postgres.dataDir, `filler-${randomUUID()}`);
  const before = nodes.map((node) => node.pid());
  const file = await open(filler, constants.O_CREAT | constants.O_WRONLY);
  try {
    const mebibyte = Buffer.alloc(1024 * 1024);
    // Again and again: what the database frees meanwhile is taken too.
    for (const until = performance.now() + 2_500; performance.now() < until;) {
      await file.write(mebibyte).catch(async (error: unknown) => {
        if (!isErrno(error, 'ENOSPC')) throw error;
        await wait(20);
      });
    }
  } finally {
    await file.close();
    await rm(filler);
  }
  // PostgreSQL ends itself when it can no longer write its log; its supervisor starts it again.
  if (!(await isUp(postgres.url()))) await postgres.start(30_000);
  await load.progress(PROGRESS);
  expectAlive(arena, before);
  return 1;
};

/** What happens to the database ends no process of ours. */
function expectAlive({ nodes }: Arena, before: readonly (number | undefined)[]): void {
  const now = nodes.map((node) => node.pid());
  if (String(before) !== String(now))
    throw new Error(`A node has ended because of its database: ${String(before)} → ${String(now)}`);
}

/** One after the other, each of them once. */
export function inTurn(...list: readonly Fault[]): Fault {
  return async (arena, load, round) => {
    let count = 0;
    for (const fault of list) count += await fault(arena, load, round);
    return count;
  };
}

async function isUp(url: string): Promise<boolean> {
  for (const until = performance.now() + 3_000; performance.now() < until;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    const connected = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    if (connected) return true;
    await wait(100);
  }
  return false;
}
