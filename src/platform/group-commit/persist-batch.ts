import { setTimeout as wait } from 'node:timers/promises';
import { databaseFailure } from '../postgres/database-errors';
import { RolledBackError, SeveralShardsError } from '../postgres/pipelined-connection';

/**
 * What the batch had read is not so any more. Nothing of it is stored, or a part that the next attempt recognises; it may be
 * tried again at once.
 */
export class LostRaceError extends Error {}

export interface PersistOptions<Work, Answer> {
  /**
   * Stores the batch in one transaction. It may be called again with the same work, also after a commit with unknown
   * outcome. It must find out what an earlier attempt has stored.
   */
  readonly attempt: (batch: readonly Work[]) => Promise<readonly Answer[]>;
  /** The answer for a piece that cannot be stored, or whose outcome stays unknown. Throws for internal errors. */
  readonly refuse: (work: Work, error: unknown) => Answer;
  /**
   * How long attempts go on before the batch is given up. The search for the one piece that waits for a foreign lock may
   * take twice as long, so that the other pieces are still stored.
   */
  readonly retryTimeMaxMs: number;
}

/** Each lost race means that another commit succeeded. A single piece does not lose this many in a row by chance. */
const ATTEMPTS_MAX = 12;
/** A batch loses a race if any of its pieces does: large batches lose more often. They are split after this many. */
const RACES_LOST_TOGETHER_MAX = 4;
const BACKOFF_MS_MAX = 50;

/**
 * Stores a batch and retries transient failures. A batch that fails because of one piece is bisected until that piece is
 * alone, so that one bad piece in five hundred does not fail the others. A batch that loses several races is bisected too:
 * each half changes fewer customers at once. So is one whose workspaces cannot share a transaction any more.
 */
export function persistBatch<Work, Answer>(
  batch: readonly Work[],
  options: PersistOptions<Work, Answer>,
): Promise<readonly Answer[]> {
  return persistUntil(performance.now(), batch, options);
}

async function persistUntil<Work, Answer>(
  startedAt: number,
  batch: readonly Work[],
  options: PersistOptions<Work, Answer>,
): Promise<readonly Answer[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await options.attempt(batch);
    } catch (error) {
      const tookMs = performance.now() - startedAt;
      const hasTimeLeft = tookMs < options.retryTimeMaxMs;
      // The search for the piece that waits for a lock takes time, and a lock on a whole table concerns every piece.
      const isWorthLooking = databaseFailure(error) === 'data' || tookMs < 2 * options.retryTimeMaxMs;
      const losesTogether = error instanceof LostRaceError && attempt >= RACES_LOST_TOGETHER_MAX && hasTimeLeft;
      const isApart = error instanceof SeveralShardsError;
      if (batch.length > 1 && (isApart || losesTogether || (isOnePiecesFault(error) && isWorthLooking)))
        return persistHalves(startedAt, batch, options);
      const tryAgain = isPassing(error) && !isOnePiecesFault(error) && attempt < ATTEMPTS_MAX;
      if (!tryAgain || !hasTimeLeft) return batch.map((work) => options.refuse(work, error));
      // A random pause, so that two nodes in conflict do not retry in step.
      await wait(Math.random() * Math.min(BACKOFF_MS_MAX, 2 ** attempt));
    }
  }
}

/** Whether a retry can succeed: lost races, locks, and a database that is away. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LostRaceError || error instanceof RolledBackError) return true;
  const failure = databaseFailure(error);
  return failure === 'repeat' || failure === 'contended' || failure === 'away';
}

function isOnePiecesFault(error: unknown): boolean {
  const failure = databaseFailure(error);
  return failure === 'data' || failure === 'contended';
}

async function persistHalves<Work, Answer>(
  startedAt: number,
  batch: readonly Work[],
  options: PersistOptions<Work, Answer>,
): Promise<readonly Answer[]> {
  const middle = Math.ceil(batch.length / 2);
  const first = await persistUntil(startedAt, batch.slice(0, middle), options);
  return [...first, ...(await persistUntil(startedAt, batch.slice(middle), options))];
}
