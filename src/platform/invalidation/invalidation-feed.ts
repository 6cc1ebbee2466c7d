import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../values/clock';
import { describeError } from '../errors/error-summary';
import { OutageLog } from '../errors/outage-log';
import { ClockDifference } from '../observability/clock-difference';

/** A record that every node caches, such as a credential or an event type. Caches drop it within a second of a change. */
export interface InvalidationSubject {
  readonly tenantId: string;
  /** The kind of record, in snake_case. Each feature names its own kinds. */
  readonly kind: string;
  readonly id: string;
}

const POLL_INTERVAL_MS = 300;
/** Since a poll that began longer ago, a change may have been committed that this node has not seen. */
const FRESH_MS_MAX = 900;
/** How far back a poll looks: longer than any transaction lives between writing its time and committing. */
const WINDOW_SECONDS = 60;
/** Nothing is remembered longer than this: a change that has left the window must find nothing from before it. */
const REMEMBERED_MS_MAX = 45_000;

/**
 * What the database's clock shows, and beside it each change of late. The look goes back from the last one where that was earlier
 * by this clock: a clock that is set forth must not hide what was changed before. $1: seconds; $2: of the epoch, or null.
 */
const READ_CHANGES = `
  SELECT (extract(epoch FROM n.at) * 1000)::float8 AS now_ms, c.subject, c.changed_at::text
  FROM (SELECT clock_timestamp() AS at) n LEFT JOIN LATERAL (
    SELECT tenant_id || '/' || kind || '/' || id AS subject, changed_at FROM control_changes
    WHERE changed_at > least(n.at, to_timestamp($2::float8)) - make_interval(secs => $1)
  ) c ON true`;

interface ChangeRow {
  readonly now_ms: number;
  readonly subject: string | null;
  readonly changed_at: string | null;
}

interface SeenChange {
  readonly changedAt: string;
  /** On this node's monotonic clock. */
  readonly seenAtMs: number;
}

/**
 * Tells this node what changed on any node, and what time it is, by polling: a lost notification cannot make it believe an old state. What is
 * remembered counts only while the last successful poll is young; otherwise the database has to be asked.
 */
@Injectable()
export class InvalidationFeed implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(InvalidationFeed.name);
  private changes: ReadonlyMap<string, SeenChange> = new Map();
  private readonly localChanges = new Map<string, number>();
  private readonly localChangesByKind = new Map<string, number>();
  private freshSinceMs = Number.NEGATIVE_INFINITY;
  /** What the database's clock showed in the last successful poll; epoch seconds. */
  private lookedAt: number | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly outage = new OutageLog(this.logger, {
    began: 'Changes on other nodes cannot be seen; the database is asked each time.',
    ended: 'Changes on other nodes can be seen again.',
  });

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly difference: ClockDifference,
  ) {}

  /** Before anybody begins to work: what time it is has to be known. */
  async onModuleInit(): Promise<void> {
    await this.poll();
  }

  beforeApplicationShutdown(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  /** Writes down, in the caller's transaction, that a control object changed. */
  async announce(manager: EntityManager, { tenantId, kind, id }: InvalidationSubject): Promise<void> {
    await manager.query(
      `INSERT INTO control_changes (tenant_id, kind, id, changed_at) VALUES ($1, $2, $3, clock_timestamp())
       ON CONFLICT ON CONSTRAINT control_changes_pkey DO UPDATE SET changed_at = clock_timestamp()`,
      [tenantId, kind, id],
    );
  }

  /** Makes a committed change count on this node at once. */
  forget(subject: InvalidationSubject): void {
    const now = this.clock.monotonicMs();
    this.localChanges.set(keyOf(subject), now);
    this.localChangesByKind.set(subject.kind, now);
  }

  /** Whether what was read from the database at `readAtMs` (monotonic) still holds for this subject. */
  holds(subject: InvalidationSubject, readAtMs: number): boolean {
    const now = this.clock.monotonicMs();
    if (!this.isFresh(now) || now - readAtMs > REMEMBERED_MS_MAX) return false;
    return !this.changedSince(subject, readAtMs);
  }

  /** Whether this node sees what changes elsewhere; otherwise nothing that it remembers counts. */
  isFresh(now: number): boolean {
    return now - this.freshSinceMs <= FRESH_MS_MAX;
  }

  /** Whether this node knows of a change of the subject after `readAtMs` (monotonic). */
  changedSince(subject: InvalidationSubject, readAtMs: number): boolean {
    const key = keyOf(subject);
    const changedAtMs = this.changes.get(key)?.seenAtMs ?? Number.NEGATIVE_INFINITY;
    const changedHereAtMs = this.localChanges.get(key) ?? Number.NEGATIVE_INFINITY;
    return Math.max(changedAtMs, changedHereAtMs) >= readAtMs;
  }

  /** Whether anything of this kind was changed by this node after `readAtMs` (monotonic). */
  changedHereSince(kind: string, readAtMs: number): boolean {
    return (this.localChangesByKind.get(kind) ?? Number.NEGATIVE_INFINITY) >= readAtMs;
  }

  private async poll(): Promise<void> {
    const startedAtMs = this.clock.monotonicMs();
    try {
      const rows: readonly ChangeRow[] = await this.database.query(READ_CHANGES, [WINDOW_SECONDS, this.lookedAt]);
      this.learnTime(rows, startedAtMs);
      this.remember(rows);
      this.freshSinceMs = startedAtMs;
      this.outage.succeeded();
    } catch (error) {
      if (!this.closed) this.outage.failed(describeError(error).line);
    }
    if (this.closed) return;
    this.timer = setTimeout(() => void this.poll(), POLL_INTERVAL_MS);
    this.timer.unref();
  }

  /** Every poll is a look at the database's clock, too. */
  private learnTime([row]: readonly ChangeRow[], askedMs: number): void {
    if (row === undefined) return;
    this.difference.learn({ databaseMs: row.now_ms, askedMs, answeredMs: this.clock.monotonicMs() });
    this.lookedAt = row.now_ms / 1_000;
  }

  private remember(rows: readonly ChangeRow[]): void {
    const seenAtMs = this.clock.monotonicMs();
    this.changes = new Map(
      rows.flatMap(({ subject, changed_at: changedAt }) => {
        if (subject === null || changedAt === null) return [];
        const before = this.changes.get(subject);
        return [[subject, before?.changedAt === changedAt ? before : { changedAt, seenAtMs }]];
      }),
    );
    for (const [key, atMs] of this.localChanges) {
      if (seenAtMs - atMs > REMEMBERED_MS_MAX) this.localChanges.delete(key);
    }
  }
}

function keyOf({ tenantId, kind, id }: InvalidationSubject): string {
  return `${tenantId}/${kind}/${id}`;
}
