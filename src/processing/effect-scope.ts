import type { Statement } from '../platform/postgres/statement';
import type { Transaction } from '../platform/postgres/pipelined-connection';

const SAVEPOINT: Statement = { name: 'processing_savepoint', text: 'SAVEPOINT effects' };
const RELEASE: Statement = { name: 'processing_release', text: 'RELEASE SAVEPOINT effects' };
const ROLL_BACK: Statement = { name: 'processing_roll_back', text: 'ROLLBACK TO SAVEPOINT effects' };

/**
 * Runs a part of a transaction within a savepoint. When it fails, the part is rolled back and its error is thrown; the
 * rest of the transaction is unaffected. Statements that the part sends after its failure are rejected.
 */
export async function withinSavepoint<T>(
  transaction: Transaction,
  work: (part: Transaction) => Promise<T>,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const after: (() => void)[] = [];
  let isOpen = true;
  const send = <R>(statement: Statement, values: readonly unknown[]): Promise<readonly R[]> => {
    if (!isOpen) return Promise.reject(new Error('This part of the transaction is over'));
    const answer = transaction.send<R>(statement, values);
    sent.push(answer);
    return answer;
  };
  await transaction.send(SAVEPOINT, []);
  try {
    const result = await work({
      usesOneWorkspaceForms: transaction.usesOneWorkspaceForms,
      send,
      sendLast: (statement, values) => void send(statement, values).catch(() => undefined),
      beforeCommit: (steps) => transaction.beforeCommit(steps),
      afterCommit: (listener) => void after.push(listener),
    });
    await Promise.all(sent);
    isOpen = false;
    await transaction.send(RELEASE, []);
    for (const listener of after) transaction.afterCommit(listener);
    return result;
  } catch (error) {
    isOpen = false;
    // A ROLLBACK TO in the same pipeline as the failing statement would be skipped.
    await Promise.allSettled(sent);
    await transaction.send(ROLL_BACK, []);
    await transaction.send(RELEASE, []);
    throw error;
  }
}

/**
 * Does `work` on a list and, when that fails, on its halves, one after the other, until each failing item is alone.
 * Items that succeed are not affected by those that fail. `select` drops items that must not be done after earlier
 * failures; `failed` is called for each item that fails alone.
 */
export async function bisect<T>(
  items: readonly T[],
  work: (part: readonly T[]) => Promise<void>,
  options: {
    readonly select: (items: readonly T[]) => readonly T[];
    readonly failed: (item: T, error: unknown) => void;
    /** Whether an item caused the error, and not a passing condition such as an absent database. */
    readonly mayBisect: (error: unknown) => boolean;
  },
): Promise<void> {
  const part = options.select(items);
  const [first] = part;
  if (first === undefined) return;
  try {
    await work(part);
  } catch (error) {
    if (!options.mayBisect(error)) throw error;
    if (part.length === 1) {
      options.failed(first, error);
      return;
    }
    const middle = Math.ceil(part.length / 2);
    await bisect(part.slice(0, middle), work, options);
    await bisect(part.slice(middle), work, options);
  }
}
