import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMsOf } from '../measure/cpu.mjs';
import { interleave } from '../measure/interleave.mjs';
import { spawnService } from '../stage/service.mjs';

export const start = {
  key: 'start',
  title: 'Start on a migrated database: from the spawn of the process to the first 200 of GET /health/ready',
  run,
};

const STARTS_A_ROUND = 3;
const DATABASE = 'bench_start';
const SECONDS_MAX = 1;
const LOOK_AGAIN_MS = 3;

async function run(bench) {
  await bench.server.createDatabase(DATABASE);
  // The first start migrates.
  await timeOfStart(bench, { WORKERS: '1' });
  const { one, auto } = await interleave(STARTS_A_ROUND * bench.options.rounds, {
    one: () => timeOfStart(bench, { WORKERS: '1' }),
    auto: () => timeOfStart(bench, { WORKERS: 'auto' }),
  });
  const rowOf = (what, { rounds }) => ({ what, figure: median(rounds, 'seconds'), digits: 2, unit: 's' });
  return [
    { ...rowOf('WORKERS=1', one), atMost: SECONDS_MAX },
    { ...rowOf('WORKERS=1, CPU of the process', one), figure: median(one.rounds, 'cpuSeconds') },
    rowOf('WORKERS=auto', auto),
    { what: 'WORKERS=1, the first event after it', figure: median(one.rounds, 'firstEventMs'), digits: 1, unit: 'ms' },
    { what: 'WORKERS=1, the second event', figure: median(one.rounds, 'secondEventMs'), digits: 1, unit: 'ms' },
  ];
}

async function timeOfStart({ server }, environment) {
  const began = performance.now();
  const service = await spawnService(server, DATABASE, environment);
  await untilReady(service.url);
  const seconds = (performance.now() - began) / 1_000;
  const cpuSeconds = cpuMsOf(service.pid) / 1_000;
  const firstEventMs = await timeOfEvent(service);
  const secondEventMs = await timeOfEvent(service);
  await service.stop();
  // The median of several starts is taken by figure, not by `rate`.
  return { rate: 1 / seconds, seconds, cpuSeconds, firstEventMs, secondEventMs };
}

async function untilReady(url) {
  for (;;) {
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await pause(LOOK_AGAIN_MS);
  }
}

async function timeOfEvent(service) {
  const identity = { type: 'EXTERNAL', value: 'customer-of-a-start' };
  const event = { source: 'shop.orders', external_event_id: randomUUID(), type: 'order.paid', identity };
  const began = performance.now();
  await service.call('/v1/external-events', event);
  return performance.now() - began;
}

function median(rounds, name) {
  return rounds.map((round) => round[name]).sort((a, b) => a - b)[Math.floor(rounds.length / 2)];
}
