import type { DataSource } from 'typeorm';

const BEAT_MS = 1_000;
/** A process without a beat for this long counts as dead: several beats, as a busy one may miss some. */
const DEAD_AFTER_MS = 4_000;
const FORGOTTEN_AFTER_MS = 60_000;
/** $1: `DEAD_AFTER_MS`. */
const OF_THE_DEAD = `
  j.locked_at NOT BETWEEN clock_timestamp() - $1 * interval '1 millisecond' AND clock_timestamp() AND NOT EXISTS (
    SELECT FROM cds_jobs.heartbeats h
    WHERE h.worker_id = j.locked_by AND h.seen_at > clock_timestamp() - $1 * interval '1 millisecond'
  )`;

/**
 * Records that this process's job runner is alive, and unlocks the jobs of dead ones. The library itself would wait for four
 * hours. When a process only seems dead, its job may run twice at the same time.
 */
export class JobHeartbeat {
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> | undefined;

  /** `onError` gets the error of a failed beat. Later beats go on. */
  constructor(
    private readonly database: DataSource,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(workerId: string): void {
    clearInterval(this.timer);
    const beat = (): void => {
      this.beating ??= this.beat(workerId).finally(() => (this.beating = undefined));
    };
    beat();
    this.timer = setInterval(beat, BEAT_MS);
    this.timer.unref();
  }

  /** Resolves once no beat is running. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.beating;
  }

  private async beat(workerId: string): Promise<void> {
    try {
      await this.database.query(
        `INSERT INTO cds_jobs.heartbeats (worker_id, seen_at) VALUES ($1, clock_timestamp())
         ON CONFLICT ON CONSTRAINT heartbeats_pkey DO UPDATE SET seen_at = clock_timestamp()`,
        [workerId],
      );
      await this.bringBack();
      await this.removeReplacedJobs();
      await this.freeJobsOfTheDead();
    } catch (error) {
      this.onError(error);
    }
  }

  /** A process that died while the database's clock was ahead would seem alive until it shows that time again. */
  private async bringBack(): Promise<void> {
    await this.database.query(
      `UPDATE cds_jobs.heartbeats SET seen_at = clock_timestamp() WHERE worker_id IN (
         SELECT worker_id FROM cds_jobs.heartbeats
         WHERE seen_at > clock_timestamp() + $1 * interval '1 millisecond' FOR UPDATE SKIP LOCKED
       )`,
      [DEAD_AFTER_MS],
    );
  }

  /**
   * A job that was replaced while it ran has no key and no attempts left. The library removes it when it succeeds, not when it
   * fails or its process dies.
   */
  private async removeReplacedJobs(): Promise<void> {
    await this.database.query(
      `DELETE FROM cds_jobs._private_jobs j
       WHERE key IS NULL AND attempts >= max_attempts AND (locked_at IS NULL OR ${OF_THE_DEAD})`,
      [DEAD_AFTER_MS],
    );
  }

  /**
   * Gives the jobs new ids: the library removes a job that has ended by its id alone, and a process that only seemed dead would
   * remove what was added under the same key since.
   */
  private async freeJobsOfTheDead(): Promise<void> {
    await this.database.query(
      `UPDATE cds_jobs._private_jobs j SET id = DEFAULT, locked_at = NULL, locked_by = NULL WHERE ${OF_THE_DEAD}`,
      [DEAD_AFTER_MS],
    );
    await this.database.query(
      `DELETE FROM cds_jobs.heartbeats WHERE seen_at < clock_timestamp() - $1 * interval '1 millisecond'`,
      [FORGOTTEN_AFTER_MS],
    );
  }
}
