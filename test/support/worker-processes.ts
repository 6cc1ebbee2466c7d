import { readdir, readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { allowedCores } from '../../src/server/cluster/cluster-cores';
import { anExternalEvent } from './builders';
import type { Client } from './client';
import { until } from './until';

/** The processes that a process has started. */
async function childrenOf(pid: number | undefined): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const name of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    if (Number(stat.split(') ').at(-1)?.split(' ')[1]) !== pid) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    found.push({ pid: Number(name), command: command.replaceAll('\0', ' ') });
  }
  return found;
}

/** The processes that serve for this one. */
export async function workersOf(pid: number | undefined): Promise<number[]> {
  return (await childrenOf(pid)).filter(({ command }) => command.includes('cluster-worker')).map((each) => each.pid);
}

/** Waits until each of the two workers of this process runs on a core of its own; on all where there are not two. */
export async function untilOnOwnCores(pid: number | undefined): Promise<void> {
  const cores = allowedCores();
  const wanted = cores.length === 2 ? cores.map((core) => [core]) : [cores, cores];
  await until(async () => {
    const found = (await workersOf(pid)).map((worker) => allowedCores(worker));
    return isDeepStrictEqual(
      found.toSorted(([first = 0], [second = 0]) => first - second),
      wanted,
    );
  });
}

/** Longer than an answer takes; a connection on its way to a worker that is killed gets none (docs/adr/0031). */
const PATIENCE_MS = 3_000;

/** Sends events on connections of their own, so that every worker gets some; answers how often each status came. */
export async function sendApart(client: Client, count: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const sendOne = (): Promise<{ readonly status: number }> =>
    client
      .send('/v1/external-events', JSON.stringify(anExternalEvent()), { headers: { connection: 'close' } })
      .catch(() => ({ status: 0 }));
  const tooLate = new Promise<{ status: number }>((resolve) => setTimeout(() => resolve({ status: 0 }), PATIENCE_MS));
  const answers = await Promise.all(Array.from({ length: count }, () => Promise.race([sendOne(), tooLate])));
  for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}
