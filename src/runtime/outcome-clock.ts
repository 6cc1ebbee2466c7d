import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { NIL_UUID } from '../platform/values/uuid';

const WRITTEN_EVERY_MS = 60_000;
/** What no node has watched may be a clock that was set: it counts as a day at most. */
const UNWATCHED_MAX = '1 day';

/** The first node begins where the database's clock stands. $1: the nil UUID. */
const BEGIN = `
  INSERT INTO outcome_clock AS c (tenant_id, at, seen_at) VALUES ($1, clock_timestamp(), clock_timestamp())
  ON CONFLICT ON CONSTRAINT outcome_clock_pkey DO UPDATE SET
    at = c.at + greatest(least(clock_timestamp() - c.seen_at, interval '${UNWATCHED_MAX}'), interval '0'),
    seen_at = clock_timestamp()
  RETURNING at`;

/** Of several nodes the one counts that has watched for longest. $2: a time. */
const ADVANCE = `
  INSERT INTO outcome_clock AS c (tenant_id, at, seen_at) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT ON CONSTRAINT outcome_clock_pkey DO UPDATE SET
    at = greatest(c.at, excluded.at), seen_at = excluded.seen_at
  RETURNING at`;

/**
 * The time by which outcomes of mutations age (docs/adr/0049). It passes as the monotonic clocks of nodes do, and never falls: to
 * whatever the clocks of machines are set, an outcome is as old as the time that a node has seen pass since it was stored.
 */
@Injectable()
export class OutcomeClock implements BeforeApplicationShutdown {
  private readonly outage = new OutageLog(new Logger(OutcomeClock.name), {
    began: 'The age of outcomes cannot be written down; it is counted all the same.',
    ended: 'The age of outcomes is written down again.',
  });
  private known: { readonly at: number; readonly readMs: number } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
  ) {}

  /** To be called before the first `now`. */
  async start(): Promise<void> {
    await this.write(BEGIN, [NIL_UUID]);
    this.timer = setInterval(() => void this.keep(), WRITTEN_EVERY_MS);
    this.timer.unref();
  }

  now(): Date {
    if (this.known === undefined) throw new Error('The clock of outcomes was not started');
    return new Date(this.known.at + this.clock.monotonicMs() - this.known.readMs);
  }

  /** Lets other nodes, and the next start, go on from here. */
  advance(): Promise<void> {
    return this.write(ADVANCE, [NIL_UUID, this.now()]);
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async keep(): Promise<void> {
    try {
      await this.advance();
      this.outage.succeeded();
    } catch (error) {
      this.outage.failed(describeError(error).line);
    }
  }

  private async write(statement: string, values: readonly unknown[]): Promise<void> {
    // Taken before the database is asked: what the answer takes is counted too.
    const readMs = this.clock.monotonicMs();
    const rows: { at: Date }[] = await this.database.query(statement, [...values]);
    const [row] = rows;
    if (row !== undefined) this.known = { at: row.at.getTime(), readMs };
  }
}
