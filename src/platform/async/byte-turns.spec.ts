import { BYTES_PER_TURN, ByteTurns, inTurns } from './byte-turns';

const nextTurn = (): Promise<void> => new Promise(setImmediate);

/** What began in each turn of the event loop. */
async function begunByTurn(turns: ByteTurns, pieces: readonly number[], count: number): Promise<number[][]> {
  let begun: number[] = [];
  for (const bytes of pieces) {
    const turn = turns.take(bytes);
    if (turn === undefined) begun.push(bytes);
    else void turn.then(() => begun.push(bytes));
  }
  const seen: number[][] = [];
  for (let turn = 0; turn < count; turn += 1) {
    seen.push(begun);
    begun = [];
    await nextTurn();
  }
  return seen;
}

describe('turns by bytes', () => {
  it('let what fits into a turn begin at once, and what is more in the next ones, in order', async () => {
    expect(await begunByTurn(new ByteTurns(100), [60, 40, 30, 70, 50, 60, 30], 4)).toEqual([
      [60, 40],
      [30, 70],
      [50],
      [60, 30],
    ]);
  });

  it('let small work begin at once, however much large work waits, up to a turn of it', async () => {
    const small = [20, 20, 20, 20, 20];
    expect(await begunByTurn(new ByteTurns(100), [100, 100, ...small, 10], 3)).toEqual([[100, ...small], [100], [10]]);
  });

  it('give what is larger than a turn one of its own', async () => {
    expect(await begunByTurn(new ByteTurns(100), [30, 500, 40, 300], 5)).toEqual([[30], [500], [40], [300], []]);
  });

  it('leave three turns to others after large work', async () => {
    const large = BYTES_PER_TURN;
    expect(await begunByTurn(new ByteTurns(), [large, large], 6)).toEqual([[large], [], [], [], [large], []]);
  });

  it('begin anew once a turn is over', async () => {
    const turns = new ByteTurns(100);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await begunByTurn(turns, [100], 2)).toEqual([[100], []]);
      await nextTurn();
    }
  });
});

describe('entries in turns', () => {
  const MANY = Array.from({ length: 1_000 }, (_unused, n) => n);

  it('are done at once where they are few bytes', () => {
    expect(
      inTurns(
        [1, 2, 3],
        () => 10,
        (n) => n * 2,
      ),
    ).toEqual([2, 4, 6]);
  });

  it('are done in their order, some in each turn', async () => {
    await nextTurn();
    await nextTurn();
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    const turnOf = await inTurns(
      MANY,
      () => 1_024,
      (n) => [n, turns] as const,
    );
    turns = 1_000;
    expect(turnOf.map(([n]) => n)).toEqual(MANY);
    const perTurn = new Map<number, number>();
    for (const [, turn] of turnOf) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(64);
  });

  it('may each have to wait, and a failure is thrown', async () => {
    expect(
      await inTurns(
        MANY,
        () => 100,
        (n) => Promise.resolve(n),
      ),
    ).toEqual(MANY);
    const failing = inTurns(
      MANY,
      () => 100,
      (n) => (n === 700 ? Promise.reject(new Error('no')) : n),
    );
    await expect(failing).rejects.toThrow('no');
  });
});
