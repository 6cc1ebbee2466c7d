export const idleLatency = {
  key: 'idle',
  title: 'Idle: one connection, one event after the other',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const { authorization: headers } = service;
  const request = { kind: 'event', path: '/v1/external-events', headers };
  const ours = await bench.load(service, { request, expect: [202], connections: 1 });
  return [{ what: 'ours, one event a request', unit: 'events/s', ...ours, p50Max: 4 }];
}
