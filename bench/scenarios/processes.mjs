import { interleave, ratioOf } from '../measure/interleave.mjs';
import { newEvents } from './single-events.mjs';

export const processes = {
  key: 'i',
  title: 'One process, and one process per core',
  run,
};

async function run(bench) {
  const services = { one: await bench.service('one', { WORKERS: '1' }), auto: await bench.service('auto') };
  const { one, auto } = await interleave(bench.options.rounds, {
    one: () => bench.load(services.one, newEvents(services.one)),
    auto: () => bench.load(services.auto, newEvents(services.auto)),
  });
  return [
    { what: 'ours, WORKERS=1', unit: 'events/s', ...one },
    { what: 'ours, WORKERS=auto', unit: 'events/s', ...auto, ratio: ratioOf(auto, one) },
  ];
}
