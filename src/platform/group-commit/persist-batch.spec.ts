import { DatabaseError } from 'pg';
import { SeveralShardsError } from '../postgres/pipelined-connection';
import { LostRaceError, persistBatch } from './persist-batch';

function databaseError(code: string): DatabaseError {
  return Object.assign(new DatabaseError('secret value', 1, 'error'), { code });
}

function persist(batch: readonly number[], attempt: (batch: readonly number[]) => void, retryTimeMaxMs = 1_000) {
  return persistBatch<number, string>(batch, {
    attempt: (works) => {
      attempt(works);
      return Promise.resolve(works.map((work) => `stored ${work}`));
    },
    refuse: (work) => `refused ${work}`,
    retryTimeMaxMs,
  });
}

describe('persistBatch', () => {
  it('costs nobody but the poison piece its answer, in few attempts', async () => {
    const batch = Array.from({ length: 500 }, (_unused, work) => work);
    let attempts = 0;
    const answers = await persist(batch, (works) => {
      attempts += 1;
      if (works.includes(333)) throw databaseError('22P05');
    });
    expect(answers).toEqual(batch.map((work) => (work === 333 ? 'refused 333' : `stored ${work}`)));
    expect(attempts).toBeLessThan(25);
  });

  it('isolates a piece that somebody else holds locked', async () => {
    const answers = await persist([1, 2, 3], (works) => {
      if (works.includes(2)) throw databaseError('55P03');
    });
    expect(answers).toEqual(['stored 1', 'refused 2', 'stored 3']);
  });

  it.each([
    ['a lost race', (): Error => new LostRaceError()],
    ['a deadlock', () => databaseError('40P01')],
    ['a serialisation failure', () => databaseError('40001')],
    ['a server that shuts down', () => databaseError('57P01')],
    ['a lost connection', () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })],
  ])('tries the whole batch again after %s', async (_name, failure) => {
    const seen: (readonly number[])[] = [];
    const answers = await persist([1, 2], (works) => {
      seen.push(works);
      if (seen.length < 4) throw failure();
    });
    expect(answers).toEqual(['stored 1', 'stored 2']);
    expect(seen).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('gives up on a database that stays away, after the time for retries', async () => {
    const answers = await persist(
      [1, 2],
      () => {
        throw databaseError('57P03');
      },
      20,
    );
    expect(answers).toEqual(['refused 1', 'refused 2']);
  });

  it('cuts a batch in half at once whose workspaces are not in one shard any more', async () => {
    const seen: (readonly number[])[] = [];
    const answers = await persist([1, 2, 3], (works) => {
      seen.push(works);
      if (works.includes(1) && works.includes(2)) throw new SeveralShardsError();
    });
    expect(answers).toEqual(['stored 1', 'stored 2', 'stored 3']);
    expect(seen).toEqual([[1, 2, 3], [1, 2], [1], [2], [3]]);
  });

  it('cuts a batch in half that loses race after race, for a smaller one wins sooner', async () => {
    const answers = await persist([1, 2, 3, 4, 5, 6, 7, 8], (works) => {
      if (works.length > 2) throw new LostRaceError();
    });
    expect(answers).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((work) => `stored ${work}`));
  });

  it('gives up on races that are never won', async () => {
    let attempts = 0;
    await persist(
      [1],
      () => {
        attempts += 1;
        throw new LostRaceError();
      },
      60_000,
    );
    expect(attempts).toBe(12);
  });

  it('lets nobody wait for long where somebody holds a lock that concerns everybody', async () => {
    const batch = Array.from({ length: 500 }, (_unused, work) => work);
    const startedAt = performance.now();
    const answers = await persistBatch<number, string>(batch, {
      attempt: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw databaseError('55P03');
      },
      refuse: (work) => `refused ${work}`,
      retryTimeMaxMs: 200,
    });
    expect(answers).toEqual(batch.map((work) => `refused ${work}`));
    // One by one they would wait for ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('does not try a mistake of ours twice', async () => {
    let attempts = 0;
    await persist([1], () => {
      attempts += 1;
      throw databaseError('42703');
    });
    expect(attempts).toBe(1);
  });
});
