import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/platform/postgres/embedded/embedded-postgres.js';

/** The PostgreSQL that everything is measured on: the embedded one, with the settings it has in service. */
export async function startServer({ folder }) {
  const dataDir = folder === undefined ? mkdtempSync(join(tmpdir(), 'cds-bench-')) : resolve(folder);
  const { url, pid, stop } = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const urlOf = (database) => url.replace(/(?<=@[^/]*\/)\w+/, database);
  return {
    ...databasesAt(urlOf),
    pid,
    dataDir,
    stop: async () => {
      await stop();
      if (folder === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A server that runs already, as `startServer` gives one. The CPU of its processes is not measured. */
export function externalServer(address) {
  const urlOf = (database) => Object.assign(new URL(address), { pathname: `/${database}` }).href;
  const databases = databasesAt(urlOf);
  return { ...databases, stop: databases.dropAll };
}

function databasesAt(urlOf) {
  const made = new Set();
  const query = (database, text, values) => withClient(urlOf(database), (client) => client.query(text, values));
  const drop = (name) => query('postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  return {
    urlOf,
    query,
    /** Makes an empty database, instead of one that is there. */
    createDatabase: async (name) => {
      await drop(name);
      await query('postgres', `CREATE DATABASE ${name}`);
      made.add(name);
    },
    dropAll: async () => {
      for (const name of made) await drop(name);
    },
    /** Keeps the cost of a checkpoint out of the next measurement. */
    checkpoint: () => query('postgres', 'CHECKPOINT'),
  };
}

export async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
