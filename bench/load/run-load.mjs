import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpuMeter } from '../measure/cpu.mjs';

const LOAD = new URL('./load.mjs', import.meta.url).pathname;

/**
 * Puts a service under load and answers what came of it: requests a second, percentiles in milliseconds, and the CPU of each
 * side a request, in microseconds. Any answer that was not expected makes the measurement void.
 */
export async function runLoad({ service, server }, job) {
  const child = fork(LOAD, [], { execArgv: [] });
  const meters = { service: service.pid, postgres: server.pid, load: child.pid };
  try {
    child.send({ url: service.url, ...job });
    await reply(child, 'measuring');
    const stop = cpuMeter(meters);
    const result = await reply(child, 'result');
    const cpuMs = stop();
    if (result.unexpected.length > 0) {
      throw new Error(`Unexpected answers [status, count]: ${JSON.stringify(result.unexpected)}`);
    }
    const { answers, seconds, p50, p95, p99 } = result;
    const perRequest = Object.entries(cpuMs).map(([who, ms]) => [who, (ms * 1_000) / answers]);
    return { rate: answers / seconds, p50, p95, p99, cpu: Object.fromEntries(perRequest) };
  } finally {
    child.disconnect();
  }
}

async function reply(child, name) {
  for (;;) {
    const [message] = await once(child, 'message');
    if (message.failed !== undefined) throw new Error(message.failed);
    if (name in message) return message[name];
  }
}
