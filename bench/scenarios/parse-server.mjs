import { interleave, ratioOf } from '../measure/interleave.mjs';
import { startParseServer } from '../parse-server/start.mjs';
import { newEvents } from './single-events.mjs';

export const parseServer = {
  key: 'j',
  title: 'parse-server 9.10 with idempotencyOptions, one process, on the same PostgreSQL',
  run,
};

async function run(bench) {
  await bench.server.createDatabase('bench_parse');
  const parse = await startParseServer(bench.server.urlOf('bench_parse'));
  const services = { one: await bench.service('one', { WORKERS: '1' }), auto: await bench.service('auto') };
  const object = {
    request: { kind: 'parseObject', path: '/parse/classes/Event', headers: parse.headers },
    expect: [201],
  };
  try {
    const { theirs, one, auto } = await interleave(bench.options.rounds, {
      theirs: () => bench.load(parse, object),
      one: () => bench.load(services.one, newEvents(services.one)),
      auto: () => bench.load(services.auto, newEvents(services.auto)),
    });
    return [
      { what: 'parse-server, one object a request', unit: 'events/s', ...theirs },
      { what: 'ours, WORKERS=1', unit: 'events/s', ...one, ratio: ratioOf(one, theirs), atLeast: 5 },
      { what: 'ours, WORKERS=auto', unit: 'events/s', ...auto, ratio: ratioOf(auto, theirs) },
    ];
  } finally {
    await parse.stop();
  }
}
