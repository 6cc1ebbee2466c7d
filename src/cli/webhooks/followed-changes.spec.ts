import type { RunningService } from '../running-service';
import { ChangeFollower } from './followed-changes';

const BEGAN = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:01.000Z';
const entry = (at: string, current: number) => {
  return { at, scope: 'user', name: 'points', op: 'set', previous: null, current, cause: { kind: 'mutation' } };
};

it('brings each change once, also those of a person who was erased and came again', async () => {
  const follower = new ChangeFollower({ campaignId: 'summer', participant: 'ann' }, BEGAN);
  /** The values of the changes that are new in this history, newest first. */
  const next = async (...items: readonly object[]): Promise<unknown[]> => {
    const service = { get: () => Promise.resolve({ items, nextCursor: null }) } as unknown as RunningService;
    const changes = await follower.next(service, true, new AbortController().signal);
    return changes.map(({ body }) => JSON.parse(body).data.current);
  };
  expect(await next(entry(BEGAN, 2), entry(BEGAN, 1))).toEqual([1, 2]);
  expect(await next(entry(BEGAN, 3), entry(BEGAN, 2), entry(BEGAN, 1))).toEqual([3]);
  expect(await next(entry(LATER, 5), entry(LATER, 4))).toEqual([4, 5]);
});
