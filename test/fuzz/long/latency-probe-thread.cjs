/** Sends events of a workspace of its own, one after the other, and reports the slowest answer between two looks. */
const { randomUUID } = require('node:crypto');
const { Agent, request } = require('node:http');
const { performance } = require('node:perf_hooks');
const { setTimeout: wait } = require('node:timers/promises');
const { parentPort, workerData } = require('node:worker_threads');

/** Between two events. */
const PAUSE_MS = 3;
const { url, key } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let slowestMs = 0;
let answers = 0;
let failures = 0;
let startedAt = performance.now();

parentPort.on('message', () => {
  // An answer that is still awaited counts with the time that it has taken so far.
  const pendingMs = performance.now() - startedAt;
  parentPort.postMessage({ slowestMs: Math.max(slowestMs, pendingMs), answers, failures });
  slowestMs = 0;
  answers = 0;
  failures = 0;
});

async function probe() {
  for (;;) {
    startedAt = performance.now();
    if ((await send()) === 202) answers += 1;
    else failures += 1;
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    await wait(PAUSE_MS);
    startedAt = performance.now();
  }
}

function send() {
  const id = randomUUID();
  const body = JSON.stringify({
    source: 'probe',
    external_event_id: id,
    type: 'probe',
    identity: { type: 'EXTERNAL', value: 'probe' },
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/external-events`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', () => resolve(0)).end(body);
  });
}

void probe();
