import { PartitionSchedule } from './partition-schedule';

const partition = (tenantId: string, shard: number) => ({ tenantId, shard });

describe('the agenda of a worker process', () => {
  it('lets workspaces take turns, however many partitions one of them has', () => {
    const agenda = new PartitionSchedule();
    agenda.add([partition('big', 1), partition('big', 2), partition('big', 3), partition('small', 9)]);
    expect([1, 2, 3, 4, 5].map(() => agenda.next())).toEqual([
      ...[partition('big', 1), partition('small', 9), partition('big', 2), partition('big', 3), undefined],
    ]);
  });

  it('has a partition once, however often it is told of it', () => {
    const agenda = new PartitionSchedule();
    agenda.add([partition('a', 1), partition('a', 1)]);
    expect([agenda.next(), agenda.next()]).toEqual([partition('a', 1), undefined]);
  });

  it('gives a partition to nobody else while it is worked on, and again when it was told of meanwhile', () => {
    const agenda = new PartitionSchedule();
    agenda.add([partition('a', 1)]);
    const taken = agenda.next()!;
    agenda.add([partition('a', 1)]);
    expect(agenda.next()).toBeUndefined();
    agenda.done(taken, false);
    expect(agenda.next()).toEqual(taken);
    agenda.done(taken, false);
    expect(agenda.next()).toBeUndefined();
  });

  it('puts a partition that has more to do behind those of other workspaces', () => {
    const agenda = new PartitionSchedule();
    agenda.add([partition('a', 1), partition('b', 1)]);
    agenda.done(agenda.next()!, true);
    expect([agenda.next(), agenda.next()]).toEqual([partition('b', 1), partition('a', 1)]);
  });

  it('tells when there is something to do', () => {
    const agenda = new PartitionSchedule();
    let told = 0;
    agenda.onWork = () => (told += 1);
    agenda.add([partition('a', 1)]);
    expect([told, agenda.isEmpty]).toEqual([1, false]);
  });
});
