import { GroupCommit } from './group-commit';
import { GroupCommitPerNode } from './group-commits';

const PIECE = { work: 'event', bytes: 1 };

/** Two nodes; what is done on the first one ends only when it is released. */
function twoNodes() {
  const nodes = new Map([
    ['one', 'first'],
    ['beside', 'first'],
    ['two', 'second'],
  ]);
  const opened: string[] = [];
  let release = (): void => undefined;
  const hanging = new Promise<void>((resolve) => (release = resolve));
  const commits = new GroupCommitPerNode<string, string>({ of: (tenantId) => nodes.get(tenantId) ?? '' }, (node) => {
    opened.push(node);
    const run = async (batch: readonly string[]): Promise<string[]> => {
      if (node === 'first') await hanging;
      return batch.map(() => node);
    };
    return new GroupCommit({ run, singlesMax: 10, fillTo: 10, bytesMax: 10 });
  });
  return { nodes, opened, commits, release };
}

describe('a group commit for each node', () => {
  it('answers workspaces of other nodes while one node hangs', async () => {
    const { commits, release } = twoNodes();
    const waiting = commits.submit('one', PIECE);
    expect(await commits.submit('two', PIECE)).toBe('second');
    expect(await commits.submitBulk('two', [PIECE, PIECE])).toEqual(['second', 'second']);
    release();
    expect(await waiting).toBe('first');
  });

  it('refuses only work of the node whose limit of bytes is reached', async () => {
    const { commits, release } = twoNodes();
    const waiting = Array.from({ length: 10 }, (_, number) => commits.submit(number < 5 ? 'one' : 'beside', PIECE));
    await expect(commits.submit('one', PIECE)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await commits.submit('two', PIECE)).toBe('second');
    release();
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 10 }, () => 'first'));
  });

  it('goes to the new node of a workspace that was moved', async () => {
    const { nodes, opened, commits } = twoNodes();
    expect(await commits.submit('two', PIECE)).toBe('second');
    nodes.set('two', 'third');
    expect(await commits.submit('two', PIECE)).toBe('third');
    expect(opened).toEqual(['second', 'third']);
  });

  it('takes nothing more once it is closed, and answers what it has', async () => {
    const { commits, release } = twoNodes();
    const waiting = commits.submit('one', PIECE);
    const closed = commits.close();
    await expect(commits.submit('two', PIECE)).rejects.toMatchObject({ code: 'unavailable' });
    release();
    await closed;
    expect(await waiting).toBe('first');
  });
});
