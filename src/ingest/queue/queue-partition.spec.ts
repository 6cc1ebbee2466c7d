import { isEarlier, QUEUE_SHARDS, shardOf } from './queue-partition';

const at = (queuedAt: string, position: number) => ({ queuedAt, position });

describe('the place of an entry in the queue', () => {
  it('is earlier by time, and within one batch by position; never earlier than itself', () => {
    expect(isEarlier(at('2026-01-01T00:00:00.000001Z', 9), at('2026-01-01T00:00:00.000002Z', 1))).toBe(true);
    expect(isEarlier(at('2026-01-01T00:00:00.000001Z', 1), at('2026-01-01T00:00:00.000001Z', 2))).toBe(true);
    expect(isEarlier(at('2026-01-01T00:00:00.000001Z', 2), at('2026-01-01T00:00:00.000001Z', 2))).toBe(false);
    expect(isEarlier(at('2026-01-01T00:00:00.000002Z', 1), at('2026-01-01T00:00:00.000001Z', 2))).toBe(false);
  });

  it('is in the shard that the end of the profile id names', () => {
    expect(shardOf('00000000-0000-7000-8000-000000000041')).toBe(1);
    expect(shardOf('00000000-0000-7000-8000-00000000ffff')).toBe(QUEUE_SHARDS - 1);
  });
});
