import { fileURLToPath } from 'node:url';
import { startProgram } from '../stage/program.mjs';

/** Starts `bare-server.mjs`, which stores what pgbench stores, in the same table. */
export async function startBareServer({ server, database }) {
  const { pid, stop, listeningUrl } = startProgram([fileURLToPath(new URL('bare-server.mjs', import.meta.url))], {
    NODE_ENV: 'production',
    DATABASE_URL: server.urlOf(database),
  });
  return { url: await listeningUrl(), pid, authorization: {}, stop };
}
