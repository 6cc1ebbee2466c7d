import { PartitionSchedule } from './partition-schedule';

const place = (tenantId: string, shard: number) => ({ tenantId, shard });

describe('the agenda of a worker process', () => {
  it('lets workspaces take turns, however many places one of them has', () => {
    const agenda = new PartitionSchedule();
    agenda.add([place('big', 1), place('big', 2), place('big', 3), place('small', 9)]);
    expect([1, 2, 3, 4, 5].map(() => agenda.next())).toEqual([
      ...[place('big', 1), place('small', 9), place('big', 2), place('big', 3), undefined],
    ]);
  });

  it('has a place once, however often it is told of it', () => {
    const agenda = new PartitionSchedule();
    agenda.add([place('a', 1), place('a', 1)]);
    expect([agenda.next(), agenda.next()]).toEqual([place('a', 1), undefined]);
  });

  it('gives a place to nobody else while it is worked on, and again when it was told of meanwhile', () => {
    const agenda = new PartitionSchedule();
    agenda.add([place('a', 1)]);
    const taken = agenda.next()!;
    agenda.add([place('a', 1)]);
    expect(agenda.next()).toBeUndefined();
    agenda.done(taken, false);
    expect(agenda.next()).toEqual(taken);
    agenda.done(taken, false);
    expect(agenda.next()).toBeUndefined();
  });

  it('puts a place that has more to do behind those of other workspaces', () => {
    const agenda = new PartitionSchedule();
    agenda.add([place('a', 1), place('b', 1)]);
    agenda.done(agenda.next()!, true);
    expect([agenda.next(), agenda.next()]).toEqual([place('b', 1), place('a', 1)]);
  });

  it('tells when there is something to do', () => {
    const agenda = new PartitionSchedule();
    let told = 0;
    agenda.onWork = () => (told += 1);
    agenda.add([place('a', 1)]);
    expect([told, agenda.isEmpty]).toEqual([1, false]);
  });
});
