import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROCESS = fileURLToPath(new URL('./autocannon-process.mjs', import.meta.url));

/** Loads by autocannon, as `loadByWrk` does by wrk; it takes about twice the CPU. */
export async function loadByAutocannon(job, meter) {
  const child = fork(PROCESS, [], { execArgv: [] });
  try {
    child.send(job);
    await reply(child, 'measuring');
    const stop = meter({ load: child.pid });
    const result = await reply(child, 'result');
    return { ...result, cpuMs: stop() };
  } finally {
    // Until it has ended, its CPU would count for the next measurement.
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  }
}

async function reply(child, name) {
  for (;;) {
    const [message] = await once(child, 'message');
    if (message.failed !== undefined) throw new Error(message.failed);
    if (name in message) return message[name];
  }
}
