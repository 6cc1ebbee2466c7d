import { setTimeout as wait } from 'node:timers/promises';
import { databaseFailure } from '../postgres/database-errors';
import { RolledBackError } from '../postgres/pipelined-connection';

/** Another node changed what the batch had read: nothing is stored, and the same batch may be tried again at once. */
export class LostRaceError extends Error {}

export interface PersistOptions<Work, Answer> {
  /**
   * Stores the batch in one transaction. It may be called again with the same work, also after a commit of unknown
   * outcome, so it must find out by itself what an earlier attempt has stored.
   */
  readonly attempt: (batch: readonly Work[]) => Promise<readonly Answer[]>;
  /** Answers one piece that cannot be stored, or whose outcome stays unknown; throws what no client should be told. */
  readonly refuse: (work: Work, error: unknown) => Answer;
  /**
   * How long attempts go on before the batch is given up. Whose lock somebody else holds is looked for twice as long, so that
   * who is found does not cost the others their answers.
   */
  readonly patienceMs: number;
}

/** Every lost race means that somebody else's commit went through, so this many in a row do not happen to a single piece by chance. */
const ATTEMPTS_MAX = 12;
/** A batch loses where any of its pieces does, and the more the larger it is. */
const RACES_LOST_TOGETHER_MAX = 4;
const BACKOFF_MS_MAX = 50;

/**
 * Stores a batch whatever happens: what is passing is tried again, and a batch that fails for one of its pieces is cut
 * in half until that piece stands alone, so that a poison piece in five hundred costs nobody else its answer. One that loses
 * race after race is cut in half, too: each half changes fewer customers at once.
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
      const isPatient = tookMs < options.patienceMs;
      // Looking for whom a lock concerns takes time, and where a whole table is locked it concerns everybody.
      const isWorthLooking = databaseFailure(error) === 'data' || tookMs < 2 * options.patienceMs;
      const losesTogether = error instanceof LostRaceError && attempt >= RACES_LOST_TOGETHER_MAX && isPatient;
      if (batch.length > 1 && (losesTogether || (isOnePiecesFault(error) && isWorthLooking)))
        return persistHalves(startedAt, batch, options);
      const tryAgain = isPassing(error) && !isOnePiecesFault(error) && attempt < ATTEMPTS_MAX;
      if (!tryAgain || !isPatient) return batch.map((work) => options.refuse(work, error));
      // Two nodes that met once should not meet again in step.
      await wait(Math.random() * Math.min(BACKOFF_MS_MAX, 2 ** attempt));
    }
  }
}

/** Whether sending the same again can succeed: races, locks, and a database that is away. */
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
