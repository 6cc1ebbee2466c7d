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
/** Cached values count only if the last successful poll began at most this long ago. */
const FRESH_MS_MAX = 900;
/** How far back a poll reads: longer than any transaction takes from writing its time to its commit. */
const WINDOW_SECONDS = 60;
/** Cached values expire after this, so that none is older than a change that has left the window. */
const REMEMBERED_MS_MAX = 45_000;

/**
 * The database's time, with each recent change. The window begins before the earliest time that the clock showed in the
 * last 45 seconds, so that a clock that was set forward hides no change from what was cached before. $1: seconds; $2: epoch
 * seconds of that time, or null.
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
 * Polls which records changed on any node, and the database's time. Polling needs no notifications, which can be lost. Cached
 * values count only while the last successful poll is recent; otherwise callers read the database.
 */
@Injectable()
export class InvalidationFeed implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(InvalidationFeed.name);
  private changes: ReadonlyMap<string, SeenChange> = new Map();
  private readonly localChanges = new Map<string, number>();
  private readonly localChangesByKind = new Map<string, number>();
  private readonly listeners = new Map<string, (tenantId: string) => void>();
  private freshSinceMs = Number.NEGATIVE_INFINITY;
  /** The successful polls of the last 45 seconds, with what the database's clock showed; epoch seconds. */
  private polls: readonly { readonly askedMs: number; readonly showed: number }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private readonly outage = new OutageLog(this.logger, {
    began: 'Changes on other nodes cannot be read; nothing is cached, and the database is read each time.',
    ended: 'Changes on other nodes can be read again.',
  });

  constructor(
    private readonly database: DataSource,
    private readonly clock: Clock,
    private readonly difference: ClockDifference,
  ) {}

  /** Polls before any request is served, because the database's time must be known. */
  async onModuleInit(): Promise<void> {
    await this.poll();
  }

  beforeApplicationShutdown(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  /**
   * Calls `listener` with the workspace of each change of this kind that this node sees: about 300 ms after it was committed,
   * at once for changes of this node, and at the start for those of the last minute. One listener for each kind.
   */
  onChange(kind: string, listener: (tenantId: string) => void): void {
    this.listeners.set(kind, listener);
  }

  /** Records in the caller's transaction that a record changed. */
  async announce(manager: EntityManager, { tenantId, kind, id }: InvalidationSubject): Promise<void> {
    await manager.query(
      `INSERT INTO control_changes (tenant_id, kind, id, changed_at) VALUES ($1, $2, $3, clock_timestamp())
       ON CONFLICT ON CONSTRAINT control_changes_pkey DO UPDATE SET changed_at = clock_timestamp()`,
      [tenantId, kind, id],
    );
  }

  /** Applies a committed change on this node at once. */
  forget(subject: InvalidationSubject): void {
    const now = this.clock.monotonicMs();
    this.localChanges.set(keyOf(subject), now);
    this.localChangesByKind.set(subject.kind, now);
    this.listeners.get(subject.kind)?.(subject.tenantId);
  }

  /** Whether what was read from the database at `readAtMs` (monotonic) still holds for this subject. */
  holds(subject: InvalidationSubject, readAtMs: number): boolean {
    const now = this.clock.monotonicMs();
    if (!this.isFresh(now) || now - readAtMs > REMEMBERED_MS_MAX) return false;
    return !this.changedSince(subject, readAtMs);
  }

  /** Whether this node sees changes on other nodes. If not, no cached value counts. */
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

  /** The earliest time that the database's clock showed in one of the polls that still matter; null before the first one. */
  private get lookedAt(): number | null {
    return this.polls.length === 0 ? null : Math.min(...this.polls.map(({ showed }) => showed));
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

  /** Every poll reads the database's clock too. */
  private learnTime([row]: readonly ChangeRow[], askedMs: number): void {
    if (row === undefined) return;
    this.difference.learn({ databaseMs: row.now_ms, askedMs, answeredMs: this.clock.monotonicMs() });
    const recent = this.polls.filter((poll) => askedMs - poll.askedMs <= REMEMBERED_MS_MAX);
    this.polls = [...recent, { askedMs, showed: row.now_ms / 1_000 }];
  }

  private notify(subject: string): void {
    const [tenantId = '', kind = ''] = subject.split('/', 2);
    this.listeners.get(kind)?.(tenantId);
  }

  private remember(rows: readonly ChangeRow[]): void {
    const seenAtMs = this.clock.monotonicMs();
    const before = this.changes;
    const changes = new Map<string, SeenChange>();
    const fresh: string[] = [];
    for (const { subject, changed_at: changedAt } of rows) {
      if (subject === null || changedAt === null) continue;
      const known = before.get(subject);
      const isKnown = known?.changedAt === changedAt;
      changes.set(subject, isKnown ? known : { changedAt, seenAtMs });
      if (!isKnown) fresh.push(subject);
    }
    this.changes = changes;
    for (const subject of fresh) this.notify(subject);
    for (const [key, atMs] of this.localChanges) {
      if (seenAtMs - atMs > REMEMBERED_MS_MAX) this.localChanges.delete(key);
    }
  }
}

function keyOf({ tenantId, kind, id }: InvalidationSubject): string {
  return `${tenantId}/${kind}/${id}`;
}
