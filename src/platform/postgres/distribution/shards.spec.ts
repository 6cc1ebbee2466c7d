import { onShards, shardsByNode, urlOf } from './shards';

describe('the shards of a distributed database', () => {
  const shards = [
    { table: 'events', shard: '101', start: '-5' },
    { table: 'event_queue', shard: '201', start: '-5' },
    { table: 'events', shard: '102', start: '0' },
    { table: 'event_queue', shard: '202', start: '0' },
  ];

  it('are on one node with those of other tables that have the same start', () => {
    const nodes = new Map([
      ['101', 'a'],
      ['102', 'b'],
    ]);
    expect(shardsByNode(shards, nodes)).toEqual([
      { node: 'a', shards: [new Map(Object.entries({ events: 'events_101', event_queue: 'event_queue_201' }))] },
      { node: 'b', shards: [new Map(Object.entries({ events: 'events_102', event_queue: 'event_queue_202' }))] },
    ]);
  });

  it('are left out if their node is not known', () => {
    expect(shardsByNode(shards, new Map([['102', 'b']])).map(({ node }) => node)).toEqual(['b']);
  });

  it('take the place of their tables behind FROM and JOIN, and of nothing else', () => {
    const first = new Map(Object.entries({ events: 'events_101', queued_bundles: 'queued_bundles_301' }));
    const second = new Map(Object.entries({ events: 'events_102', queued_bundles: 'queued_bundles_302' }));
    expect(onShards('SELECT events FROM queued_bundles JOIN events e ON queued_bundles_x', [first, second])).toBe(
      'SELECT * FROM (SELECT events FROM queued_bundles_301 JOIN events_101 e ON queued_bundles_x\n) shard\nUNION ALL\n' +
        'SELECT * FROM (SELECT events FROM queued_bundles_302 JOIN events_102 e ON queued_bundles_x\n) shard',
    );
  });

  it.each([
    ['postgresql://me:secret@first:5432/cds', 'postgresql://me:secret@second:5433/cds'],
    [
      'postgresql://me@/cds?host=/run/postgresql&port=1&sslmode=require',
      'postgresql://me@second:5433/cds?sslmode=require',
    ],
  ])('are reached by the address of their node: %s', (url, expected) => {
    expect(urlOf(url, { shard: '1', host: 'second', port: 5433, isCoordinator: false })).toBe(expected);
  });

  it('are reached by the given address on the coordinator', () => {
    const url = 'postgresql://me@first/cds';
    expect(urlOf(url, { shard: '1', host: '10.0.0.1', port: 5432, isCoordinator: true })).toBe(url);
  });
});
