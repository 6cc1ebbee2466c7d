import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../platform/values/clock';
import { describeError } from '../platform/errors/error-summary';
import { OutageLog } from '../platform/errors/outage-log';
import { NIL_UUID } from '../platform/values/uuid';

const WRITTEN_EVERY_MS = 60_000;
/** Time that passed while no node ran counts as a day at most: the database's clock may have been set. */
const UNWATCHED_MAX = '1 day';

/** The first start takes the time of the database's clock. $1: the nil UUID. */
const BEGIN = `
  INSERT INTO outcome_clock AS c (tenant_id, at, seen_at) VALUES ($1, clock_timestamp(), clock_timestamp())
  ON CONFLICT ON CONSTRAINT outcome_clock_pkey DO UPDATE SET
    at = c.at + greatest(least(clock_timestamp() - c.seen_at, interval '${UNWATCHED_MAX}'), interval '0'),
    seen_at = clock_timestamp()
  RETURNING at`;

/** Of several nodes the latest time counts. $2: a time. */
const ADVANCE = `
  INSERT INTO outcome_clock AS c (tenant_id, at, seen_at) VALUES ($1, $2, clock_timestamp())
  ON CONFLICT ON CONSTRAINT outcome_clock_pkey DO UPDATE SET
    at = greatest(c.at, excluded.at), seen_at = excluded.seen_at
  RETURNING at`;

/**
 * The time by which outcomes of mutations age (docs/adr/0049). It advances with the monotonic clocks of nodes and never
 * goes back. When a machine's clock is set, the age of an outcome does not change.
 */
@Injectable()
export class OutcomeClock implements BeforeApplicationShutdown {
  private readonly outage = new OutageLog(new Logger(OutcomeClock.name), {
    began: 'The outcome clock cannot be stored; it goes on in memory.',
    ended: 'The outcome clock is stored again.',
  });
  private known: { readonly at: number; readonly readMs: number } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
  ) {}

  /** Must be called before `now`. */
  async start(): Promise<void> {
    await this.write(BEGIN, [NIL_UUID]);
    this.timer = setInterval(() => void this.store(), WRITTEN_EVERY_MS);
    this.timer.unref();
  }

  now(): Date {
    if (this.known === undefined) throw new Error('The outcome clock was not started');
    return new Date(this.known.at + this.clock.monotonicMs() - this.known.readMs);
  }

  /** Stores the time, for other nodes and the next start. */
  advance(): Promise<void> {
    return this.write(ADVANCE, [NIL_UUID, this.now()]);
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async store(): Promise<void> {
    try {
      await this.advance();
      this.outage.succeeded();
    } catch (error) {
      this.outage.failed(describeError(error).line);
    }
  }

  private async write(statement: string, values: readonly unknown[]): Promise<void> {
    // Read before the query, so that the time of the query counts too.
    const readMs = this.clock.monotonicMs();
    const rows: { at: Date }[] = await this.database.query(statement, [...values]);
    const [row] = rows;
    if (row !== undefined) this.known = { at: row.at.getTime(), readMs };
  }
}
