import { parseCronItems, type ParsedCronItem } from 'graphile-worker';
import type { DataSource } from 'typeorm';
import type { Clock } from '../values/clock';
import { NIL_UUID } from '../values/uuid';

const POLL_MS = 1_000;
const MINUTE_MS = 60_000;
/** A process that was blocked catches up at most this far. Periodic jobs that were due earlier are due again soon. */
const MINUTES_CAUGHT_UP_MAX = 60;

/** A job that is added by a schedule. */
export interface PeriodicJob {
  readonly name: string;
  /** In UTC. */
  readonly cron: string;
}

/**
 * Adds the jobs that no process has added for this minute. After the clock was set back by more than an hour, earlier entries
 * do not delay jobs. $1: the nil UUID, $2: jobs, $3: the minute, $4: attempts.
 */
const ADD_DUE = `
  WITH due AS (
    INSERT INTO job_schedules AS s (tenant_id, job, due_at)
    SELECT $1::uuid, job, $3::timestamptz FROM unnest($2::text[]) AS job ORDER BY job
    ON CONFLICT ON CONSTRAINT job_schedules_pkey DO UPDATE SET due_at = excluded.due_at
    WHERE s.due_at < excluded.due_at OR s.due_at > excluded.due_at + interval '1 hour'
    RETURNING job
  )
  SELECT cds_jobs.add_job(job, payload := '{}', job_key := job || '/periodic', max_attempts := $4::int) FROM due`;

/**
 * Lets no minute delay jobs that the clock has shown before it was set back to $2, until it shows that again. In the order in
 * which `ADD_DUE` locks. $1: the nil UUID.
 */
const BRING_BACK = `
  UPDATE job_schedules s SET due_at = $2::timestamptz - interval '1 minute'
  FROM (
    SELECT tenant_id, job FROM job_schedules
    WHERE tenant_id = $1::uuid AND due_at > $2::timestamptz + interval '1 minute' ORDER BY job FOR UPDATE
  ) ahead
  WHERE s.tenant_id = ahead.tenant_id AND s.job = ahead.job`;

/**
 * Makes jobs due whose time was set before the clock was set back: what was put off in the future. A failed attempt does not say
 * when it was. We delay jobs for less than an hour, and the library by so many seconds after such an attempt: what waits longer
 * is due, too.
 */
const PULL_BACK = `
  SELECT cds_jobs.reschedule_jobs(array_agg(id), run_at := now())
  FROM cds_jobs.jobs
  WHERE locked_at IS NULL AND run_at > now() AND (
    updated_at > now() + interval '1 minute'
    OR run_at > now() + interval '1 hour' + exp(least(attempts, 10)) * interval '1 second'
  )
  HAVING count(*) > 0`;

export interface JobScheduleOptions {
  readonly jobs: readonly PeriodicJob[];
  readonly attemptsMax: number;
  /** Gets the error of a failed poll. Later polls go on. */
  readonly onError: (error: unknown) => void;
}

/**
 * Adds periodic jobs when they are due, once for all processes. It uses the database's clock. The job library would use the
 * clock of each machine, and one that is ahead would delay the jobs of all others.
 */
export class JobSchedule {
  private readonly items: readonly ParsedCronItem[];
  private minute: number;
  private polling: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly options: JobScheduleOptions,
  ) {
    this.items = parseCronItems(options.jobs.map(({ name, cron }) => ({ task: name, match: cron })));
    this.minute = this.currentMinute();
    this.timer = setInterval(() => {
      this.polling ??= this.poll().finally(() => (this.polling = undefined));
    }, POLL_MS);
    this.timer.unref();
  }

  /** Resolves once no poll is running. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
  }

  private async poll(): Promise<void> {
    const now = this.currentMinute();
    if (now === this.minute) return;
    try {
      // The clock was set back.
      if (now < this.minute) {
        await this.database.query(BRING_BACK, [NIL_UUID, new Date(now * MINUTE_MS)]);
        this.minute = now - 1;
      }
      this.minute = Math.max(this.minute, now - MINUTES_CAUGHT_UP_MAX);
      await this.database.query(PULL_BACK);
      for (; this.minute < now; this.minute += 1) await this.addDue(new Date((this.minute + 1) * MINUTE_MS));
    } catch (error) {
      this.options.onError(error);
    }
  }

  private async addDue(minute: Date): Promise<void> {
    const digest = {
      min: minute.getUTCMinutes(),
      hour: minute.getUTCHours(),
      date: minute.getUTCDate(),
      month: minute.getUTCMonth() + 1,
      dow: minute.getUTCDay(),
    };
    const due = this.items.filter((item) => item.match(digest)).map(({ task }) => task);
    if (due.length > 0) await this.database.query(ADD_DUE, [NIL_UUID, due, minute, this.options.attemptsMax]);
  }

  private currentMinute(): number {
    return Math.floor(this.clock.now().getTime() / MINUTE_MS);
  }
}
