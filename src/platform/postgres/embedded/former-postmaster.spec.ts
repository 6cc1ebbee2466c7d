import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { clearFormerPostmaster } from './former-postmaster';
import { CLUSTER_NAME } from './server-settings';

const ROUNDS = 100;
/** A look takes a few of them: the server ends before, during or after it. */
const TICKS_MAX = 12;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'former-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A process that looks like a server of these data. */
async function aServer() {
  const server = spawn('sleep', ['600'], { argv0: `postgres cluster_name=${CLUSTER_NAME}`, cwd: folder });
  await once(server, 'spawn');
  await writeFile(join(folder, 'postmaster.pid'), String(server.pid));
  return server;
}

it('never takes a server that ends at this moment for one that no service has started', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await aServer();
    const ended = once(server, 'exit');
    const cleared = clearFormerPostmaster({ folder });
    for (let ticks = round % TICKS_MAX; ticks > 0; ticks -= 1) await nextTick();
    server.kill('SIGKILL');
    await expect(cleared).resolves.toBeUndefined();
    await ended;
  }
});
