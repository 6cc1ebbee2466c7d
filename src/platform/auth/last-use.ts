import { setTimeout as wait } from 'node:timers/promises';
import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { Clock } from '../values/clock';
import { describeError } from '../errors/error-summary';
import { OutageLog } from '../errors/outage-log';

/** A use within this time after the stored one is not stored: at most one write a minute (contract section 2). */
const LAST_USE_STEP_SECONDS = 60;
/** More credentials than one node verifies at a time. Beyond it a use is skipped until the next verification. */
const WAITING_MAX = 10_000;
/** A part of the 10 s in which the service has to stop. */
const DRAIN_MS_MAX = 1_000;

/** A credential in its state at verification. */
export interface UsedCredential {
  readonly tenantId: string;
  readonly id: string;
  readonly lastUsedAt: Date | null;
}

/**
 * Stores that a credential was used at `at`, unless a use less than `LAST_USE_STEP_SECONDS` earlier or later is stored. Of any
 * number of nodes only one writes per minute. A later use than that is one of a clock that was set back since.
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
       AND (last_used_at IS NULL OR last_used_at < $3::timestamptz - make_interval(secs => $4)
         OR last_used_at > $3::timestamptz + make_interval(secs => $4))`,
    [tenantId, id, at, LAST_USE_STEP_SECONDS],
  );
}

/**
 * Stores when credentials of one kind were last used. It works in the background: no request waits for a write or fails with
 * it. Writes run one at a time, so that a thousand credentials do not take all connections from requests.
 */
export class LastUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger(LastUse.name);
  private readonly waiting = new Map<string, UsedCredential & { readonly at: Date }>();
  private writing: Promise<void> | undefined;
  private closed = false;
  private readonly outage = new OutageLog(this.logger, {
    began: 'The last use of credentials cannot be stored; the credentials are still accepted.',
    ended: 'The last use of credentials can be stored again.',
  });

  constructor(
    private readonly clock: Clock,
    private readonly write: WriteLastUse,
  ) {}

  /** Call it when a credential has been verified against the database. Returns at once and never throws. */
  note({ tenantId, id, lastUsedAt }: UsedCredential): void {
    const at = this.clock.now();
    const isStored =
      lastUsedAt !== null && Math.abs(at.getTime() - lastUsedAt.getTime()) <= LAST_USE_STEP_SECONDS * 1_000;
    const key = `${tenantId}/${id}`;
    if (isStored || this.closed || this.waiting.has(key) || this.waiting.size >= WAITING_MAX) return;
    this.waiting.set(key, { tenantId, id, lastUsedAt, at });
    this.writing ??= this.writeAll();
  }

  /** Nest closes the database after this. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closed = true;
    await Promise.race([this.writing, wait(DRAIN_MS_MAX, undefined, { ref: false })]);
    this.waiting.clear();
  }

  private async writeAll(): Promise<void> {
    // The iteration includes entries that are added meanwhile.
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
