import { PartitionSchedule } from './partition-schedule';

const partition = (tenantId: string, shard: number) => ({ tenantId, shard });

describe('the schedule of a worker process', () => {
  it('takes workspaces in turn, however many partitions each has', () => {
    const schedule = new PartitionSchedule();
    schedule.add([partition('big', 1), partition('big', 2), partition('big', 3), partition('small', 9)]);
    expect([1, 2, 3, 4, 5].map(() => schedule.next())).toEqual([
      ...[partition('big', 1), partition('small', 9), partition('big', 2), partition('big', 3), undefined],
    ]);
  });

  it('holds a partition once, however often it is added', () => {
    const schedule = new PartitionSchedule();
    schedule.add([partition('a', 1), partition('a', 1)]);
    expect([schedule.next(), schedule.next()]).toEqual([partition('a', 1), undefined]);
  });

  it('does not return a running partition, but returns it again if it was added meanwhile', () => {
    const schedule = new PartitionSchedule();
    schedule.add([partition('a', 1)]);
    const taken = schedule.next()!;
    schedule.add([partition('a', 1)]);
    expect(schedule.next()).toBeUndefined();
    schedule.done(taken, false);
    expect(schedule.next()).toEqual(taken);
    schedule.done(taken, false);
    expect(schedule.next()).toBeUndefined();
  });

  it('puts a partition that has more to do behind those of other workspaces', () => {
    const schedule = new PartitionSchedule();
    schedule.add([partition('a', 1), partition('b', 1)]);
    schedule.done(schedule.next()!, true);
    expect([schedule.next(), schedule.next()]).toEqual([partition('b', 1), partition('a', 1)]);
  });

  it('tells when there is something to do', () => {
    const schedule = new PartitionSchedule();
    let calls = 0;
    schedule.onWork = () => (calls += 1);
    schedule.add([partition('a', 1)]);
    expect([calls, schedule.isEmpty]).toEqual([1, false]);
  });
});
