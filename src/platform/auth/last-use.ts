import { setTimeout as wait } from 'node:timers/promises';
import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Clock } from '../values/clock';
import { describeError } from '../errors/error-summary';
import { OutageLog } from '../errors/outage-log';

/** A use within so many seconds of the one that is stored is not stored: at most one write a minute (contract section 2). */
const LAST_USE_STEP_SECONDS = 60;
/** More credentials than one node verifies at a time; beyond it a use is left to the next verification. */
const WAITING_MAX = 10_000;
/** A part of the 10 s in which a service has to stop. */
const DRAIN_MS_MAX = 1_000;

/** A credential as it was read when it was verified. */
export interface UsedCredential {
  readonly tenantId: string;
  readonly id: string;
  readonly lastUsedAt: Date | null;
}

/**
 * Stores that a credential was used at `at`, unless a use less than `LAST_USE_STEP_SECONDS` before it is stored: of any
 * number of nodes that say so within a minute, one writes.
 */
export type WriteLastUse = (tenantId: string, id: string, at: Date) => Promise<unknown>;

/**
 * `WriteLastUse` for a table of credentials. `table` is a constant of the caller, never input. The column is in no index, so
 * that PostgreSQL updates the row within its page (HOT).
 */
export async function storeLastUse(
  database: DataSource,
  table: string,
  ...[tenantId, id, at]: Parameters<WriteLastUse>
): Promise<void> {
  await database.query(
    `UPDATE ${table} SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2
       AND (last_used_at IS NULL OR last_used_at < $3::timestamptz - make_interval(secs => $4))`,
    [tenantId, id, at, LAST_USE_STEP_SECONDS],
  );
}

/**
 * Keeps when credentials of one kind were last used, behind the requests that use them: none waits for a write or fails with
 * it. One write at a time, so that a thousand credentials that come at once do not take the connections of requests.
 */
export class LastUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUse.name);
  private readonly waiting = new Map<string, UsedCredential & { readonly at: Date }>();
  private writing: Promise<void> | undefined;
  private closed = false;
  private readonly outage = new OutageLog(this.logger, {
    began: 'The last use of credentials cannot be stored; they are taken all the same.',
    ended: 'The last use of credentials can be stored again.',
  });

  constructor(
    private readonly clock: Clock,
    private readonly write: WriteLastUse,
  ) {}

  /** To be called whenever a credential has been verified against the database. Returns at once and never throws. */
  note({ tenantId, id, lastUsedAt }: UsedCredential): void {
    const at = this.clock.now();
    const isStored = lastUsedAt !== null && at.getTime() - lastUsedAt.getTime() <= LAST_USE_STEP_SECONDS * 1_000;
    const key = `${tenantId}/${id}`;
    if (isStored || this.closed || this.waiting.has(key) || this.waiting.size >= WAITING_MAX) return;
    this.waiting.set(key, { tenantId, id, lastUsedAt, at });
    this.writing ??= this.writeAll();
  }

  /** Nest's own order: the database is closed after this. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closed = true;
    await Promise.race([this.writing, wait(DRAIN_MS_MAX, undefined, { ref: false })]);
    this.waiting.clear();
  }

  private async writeAll(): Promise<void> {
    // What is added meanwhile is met too.
    for (const [key, { tenantId, id, at }] of this.waiting) {
      try {
        await this.write(tenantId, id, at);
        this.outage.succeeded();
      } catch (error) {
        if (!this.closed) this.outage.failed(describeError(error).line);
      }
      this.waiting.delete(key);
    }
    this.writing = undefined;
  }
}
