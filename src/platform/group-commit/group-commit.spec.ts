import { DomainError } from '../errors/domain-error';
import { GroupCommit } from './group-commit';

/** A group commit whose batches end when the test says so. */
function aGroupCommit(
  limits: Partial<{
    singlesMax: number;
    fillTo: number;
    bulkMax: number;
    bytesMax: number;
    batchBytesMax: number;
    groupOf: (tenantId: string) => string;
  }> = {},
) {
  const batches: { work: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const commits = new GroupCommit<string, string>({
    run: (work) =>
      new Promise((resolve, reject) => {
        batches.push({ work, end: () => resolve(work.map((piece) => `done ${piece}`)), fail: reject });
      }),
    singlesMax: 10,
    fillTo: 4,
    bytesMax: 1_000,
    ...limits,
  });
  return { commits, batches };
}

const piece = (work: string, bytes = 1) => ({ work, bytes });
const turn = () => new Promise(setImmediate);

describe('GroupCommit', () => {
  it('puts what arrives while a commit is under way into the next one', async () => {
    const { commits, batches } = aGroupCommit();
    const first = commits.submit('a', piece('1'));
    await turn();
    const rest = [commits.submit('a', piece('2')), commits.submit('b', piece('3'))];
    expect(batches.map((batch) => batch.work)).toEqual([['1']]);
    batches[0]?.end();
    await expect(first).resolves.toBe('done 1');
    await turn();
    expect(batches.map((batch) => batch.work)).toEqual([['1'], ['2', '3']]);
    batches[1]?.end();
    await expect(Promise.all(rest)).resolves.toEqual(['done 2', 'done 3']);
  });

  it('puts no more bytes into one commit than can be written in one turn, and a larger piece into one of its own', async () => {
    const { commits, batches } = aGroupCommit({ batchBytesMax: 100 });
    void commits.submit('a', piece('1', 60));
    void commits.submitBulk('b', [piece('2', 30), piece('3', 30), piece('4', 500), piece('5', 40), piece('6', 60)]);
    for (let batch = 0; batch < 4; batch += 1) {
      await turn();
      batches[batch]?.end();
    }
    await turn();
    expect(batches.map(({ work }) => work)).toEqual([['1', '2'], ['3'], ['4'], ['5', '6']]);
  });

  it('counts in a commit what a piece reads there, and not while it waits', async () => {
    const { commits, batches } = aGroupCommit({ batchBytesMax: 100, bytesMax: 120 });
    for (const work of ['1', '2', '3']) void commits.submit('a', { ...piece(work, 30), batchBytes: 50 });
    for (let batch = 0; batch < 2; batch += 1) {
      await turn();
      batches[batch]?.end();
    }
    await turn();
    expect(batches.map(({ work }) => work)).toEqual([['1', '2'], ['3']]);
  });

  it('waits a moment for all whom it has answered, so that the few who wait do not have a commit to themselves', async () => {
    const { commits, batches } = aGroupCommit();
    const submit = (count: number) =>
      Promise.all(Array.from({ length: count }, (_unused, index) => commits.submit('a', piece(`${index}`))));
    const answered = submit(8);
    await turn();
    void submit(2);
    batches[0]?.end();
    await answered;
    await turn();
    expect(batches).toHaveLength(1);
    void submit(8);
    await turn();
    expect(batches[1]?.work).toHaveLength(10);
    batches[1]?.end();
    await turn();
    // Who does not come back is not waited for any longer.
    void submit(1);
    await turn();
    expect(batches).toHaveLength(2);
    while (batches.length === 2) await turn();
    expect(batches[2]?.work).toHaveLength(1);
  });

  it('lets single pieces go before bulk ones, which fill the batch up', async () => {
    const { commits, batches } = aGroupCommit({ fillTo: 4 });
    void commits.submitBulk(
      'a',
      ['b1', 'b2', 'b3', 'b4', 'b5'].map((work) => piece(work)),
    );
    void commits.submit('b', piece('single'));
    await turn();
    expect(batches[0]?.work).toEqual(['single', 'b1', 'b2', 'b3']);
    batches[0]?.end();
    await turn();
    expect(batches[1]?.work).toEqual(['b4', 'b5']);
  });

  it.each([
    ['many', { fillTo: 4, bulkMax: 8 }, 4, 1],
    ['large', { fillTo: 4, bulkMax: 8, batchBytesMax: 100 }, 2, 30],
    ['many of one workspace', { fillTo: 4, bulkMax: 8, groupOf: String }, 4, 1],
  ])('does not leave bulk pieces waiting while single ones come that are %s', async (_name, limits, count, bytes) => {
    const { commits, batches } = aGroupCommit(limits);
    void commits.submitBulk('a', [piece('b1', 10), piece('b2', 10)]);
    const singles = () => Array.from({ length: count }, () => void commits.submit('a', piece('single', bytes)));
    singles();
    for (let batch = 0; batch < 2; batch += 1) {
      await turn();
      // They are there before the next batch begins.
      singles();
      batches[batch]?.end();
    }
    await turn();
    const first = Array.from({ length: count }, () => 'single');
    expect(batches[0]?.work).toEqual(first);
    expect(batches[1]?.work.slice(0, 3)).toEqual(['b1', 'b2', 'single']);
  });

  it('takes fewer bytes of bulk pieces along with a single one', async () => {
    const { commits, batches } = aGroupCommit({ fillTo: 2, bulkMax: 4, batchBytesMax: 100 });
    void commits.submitBulk('a', [piece('b1', 40), piece('b2', 40), piece('b3', 40)]);
    void commits.submit('b', piece('single', 5));
    await turn();
    expect(batches[0]?.work).toEqual(['single', 'b1']);
    batches[0]?.end();
    await turn();
    expect(batches[1]?.work).toEqual(['b2', 'b3']);
  });

  it('takes more bulk pieces where no single one waits', async () => {
    const { commits, batches } = aGroupCommit({ fillTo: 2, bulkMax: 3 });
    const bulk = ['b1', 'b2', 'b3', 'b4', 'b5'].map((work) => piece(work));
    void commits.submitBulk('a', bulk);
    await turn();
    void commits.submit('b', piece('single'));
    batches[0]?.end();
    await turn();
    expect(batches.map(({ work }) => work)).toEqual([
      ['b1', 'b2', 'b3'],
      ['single', 'b4'],
    ]);
  });

  it('keeps workspaces apart where each batch is of one, and lets single and bulk pieces begin in turn', async () => {
    const { commits, batches } = aGroupCommit({ groupOf: String });
    void commits.submit('a', piece('a single'));
    void commits.submit('b', piece('b single'));
    void commits.submit('a', piece('a second'));
    void commits.submitBulk('c', [piece('c bulk'), piece('c more')]);
    void commits.submitBulk('a', [piece('a bulk')]);
    for (let batch = 0; batch < 3; batch += 1) {
      await turn();
      batches[batch]?.end();
    }
    await turn();
    expect(batches.map(({ work }) => work)).toEqual([
      ['a single', 'a second', 'a bulk'],
      ['c bulk', 'c more'],
      ['b single'],
    ]);
  });

  it('puts workspaces of one group into one batch, in turn', async () => {
    const { commits, batches } = aGroupCommit({ groupOf: (tenantId) => (tenantId === 'b' ? 'other' : 'same') });
    for (const work of ['a 1', 'a 2', 'b 1', 'c 1']) void commits.submit(work.slice(0, 1), piece(work));
    await turn();
    batches[0]?.end();
    await turn();
    expect(batches.map(({ work }) => work)).toEqual([['a 1', 'c 1', 'a 2'], ['b 1']]);
  });

  it('answers everybody in a failed batch with its error and goes on', async () => {
    const { commits, batches } = aGroupCommit();
    const failed = [commits.submit('a', piece('1')), commits.submit('a', piece('2'))].map((answer) =>
      answer.catch(String),
    );
    await turn();
    batches[0]?.fail(new Error('no database'));
    await expect(Promise.all(failed)).resolves.toEqual(['Error: no database', 'Error: no database']);
    const next = commits.submit('a', piece('3'));
    await turn();
    batches[1]?.end();
    await expect(next).resolves.toBe('done 3');
  });

  it('refuses what would not fit into its bytes, whole, and takes it once there is room', async () => {
    const { commits, batches } = aGroupCommit({ bytesMax: 100 });
    const first = commits.submit('a', piece('1', 60));
    const refused = commits.submitBulk('a', [piece('2', 20), piece('3', 30)]);
    await expect(refused).rejects.toThrow(DomainError);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', extras: { retryAfterSeconds: 1 } });
    await turn();
    batches[0]?.end();
    await first;
    const again = commits.submitBulk('a', [piece('2', 20), piece('3', 30)]);
    await turn();
    batches[1]?.end();
    await expect(again).resolves.toEqual(['done 2', 'done 3']);
  });

  it('takes a request that is larger than its bytes once nothing else waits', async () => {
    const { commits, batches } = aGroupCommit({ bytesMax: 100 });
    const first = commits.submit('a', piece('1', 1));
    const large = [piece('2', 80), piece('3', 80)];
    await expect(commits.submitBulk('a', large)).rejects.toMatchObject({ code: 'unavailable' });
    await turn();
    batches[0]?.end();
    await first;
    const taken = commits.submitBulk('a', large);
    await expect(commits.submit('a', piece('4', 1))).rejects.toMatchObject({ code: 'unavailable' });
    await turn();
    batches[1]?.end();
    await expect(taken).resolves.toEqual(['done 2', 'done 3']);
  });

  it('leaves a part of its bytes to other workspaces, whatever one of them sends', async () => {
    const { commits, batches } = aGroupCommit({ bytesMax: 100 });
    const taken = [commits.submit('a', piece('1', 40)), commits.submitBulk('a', [piece('2', 20), piece('3', 15)])];
    await expect(commits.submit('a', piece('4', 1))).rejects.toMatchObject({ code: 'unavailable' });
    taken.push(commits.submit('b', piece('5', 25)));
    await expect(commits.submit('c', piece('6', 1))).rejects.toMatchObject({ code: 'unavailable' });
    await turn();
    batches[0]?.end();
    await expect(Promise.all(taken)).resolves.toEqual(['done 1', ['done 2', 'done 3'], 'done 5']);
    const again = commits.submit('a', piece('7', 100));
    await turn();
    batches[1]?.end();
    await expect(again).resolves.toBe('done 7');
  });

  it('answers what it has taken before it closes, and takes nothing more', async () => {
    const { commits, batches } = aGroupCommit();
    const taken = commits.submit('a', piece('1'));
    const closed = commits.close();
    await expect(commits.submit('a', piece('2'))).rejects.toMatchObject({ code: 'unavailable' });
    await turn();
    batches[0]?.end();
    await closed;
    await expect(taken).resolves.toBe('done 1');
  });
});
