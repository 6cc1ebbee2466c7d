import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { addAt, workInParts } from '../../platform/jobs/in-steps';
import { Jobs, type JobPayload } from '../../platform/jobs/jobs';
import { Clock } from '../../platform/values/clock';
import { firstIdAt } from '../../platform/values/ids';
import { NIL_UUID } from '../../platform/values/uuid';

/** Delivered and failed deliveries are kept so long, with their attempts. */
const KEPT_DAYS = 30;
/**
 * A change of a value waits no longer, as its history is kept for so long by default. Events wait as long as they are
 * stored (docs/adr/0077).
 */
const CHANGE_WAITS_DAYS_MAX = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
const EVERY_HOUR = '23 * * * *';
/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STEP = 500;

const REMOVE_JOB = 'webhook-removal';
const RESUME_JOB = 'webhook-resumption';
const RETENTION_JOB = 'webhook-retention';
const CHANGES_JOB = 'webhook-changes-retention';
const FAILING_JOB = 'webhook-failing-ends';

/** Removes a deleted endpoint's replays, queues and deliveries. A claimed queue has an attempt under way, whose result is dropped. */
const REMOVE_QUEUES = `
  DELETE FROM webhook_queues WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY profile_id LIMIT $3 FOR UPDATE SKIP LOCKED)`;
const REMOVE_LOCKED_QUEUES = withoutSkipping(REMOVE_QUEUES);
const REMOVE_DELIVERIES = `
  DELETE FROM webhook_deliveries WHERE (tenant_id, event_id, endpoint_id) IN (
    SELECT tenant_id, event_id, endpoint_id FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND created_at > '-infinity' LIMIT $3)`;
const REMOVE_REPLAYS = `
  DELETE FROM webhook_replays WHERE (tenant_id, endpoint_id, id) IN (
    SELECT tenant_id, endpoint_id, id FROM webhook_replays WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id LIMIT $3)`;

/**
 * Makes queues of an endpoint due, and begins the schedule of their first deliveries anew. By the index of due times, so
 * that a step does not read again what earlier ones have resumed. It holds locks in no common order, but waits for none.
 */
export const RESUME_QUEUES = `
  UPDATE webhook_queues SET due_at = statement_timestamp(), failures = 0
  WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at > statement_timestamp() AND due_at > '-infinity'
      AND claim_id IS NULL
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;
const RESUME_LOCKED_QUEUES = withoutSkipping(RESUME_QUEUES);

/**
 * Makes queues of an endpoint due that wait for a later time than any rule lets them: the database's clock was set back since.
 * Without a failed attempt a queue waits for 30 seconds at most, a claim ends after as many, and attempts are 29 hours apart at
 * most. A call may be under way: its claim goes on for 30 seconds.
 */
export const PULL_BACK_QUEUES = `
  UPDATE webhook_queues
  SET due_at = statement_timestamp() + CASE WHEN claim_id IS NULL THEN interval '0' ELSE interval '30 seconds' END
  WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at > statement_timestamp() + interval '1 minute' AND due_at > '-infinity'
      AND (failures = 0 OR claim_id IS NOT NULL OR due_at > statement_timestamp() + interval '29 hours')
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;

const NEXT_ENDPOINT = `
  SELECT d.tenant_id, d.endpoint_id, e.id IS NULL AS is_deleted
  FROM (
    SELECT tenant_id, endpoint_id FROM webhook_deliveries
    WHERE (tenant_id, endpoint_id) > ($1, $2) AND created_at > '-infinity' ORDER BY tenant_id, endpoint_id LIMIT 1
  ) d
  LEFT JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id`;
/**
 * By the state once more: one that is asked for again at this moment stays. By statement_timestamp(), because PostgreSQL
 * compares with the volatile clock_timestamp() row by row, and would read all deliveries that are kept.
 */
export const EXPIRE = `
  DELETE FROM webhook_deliveries WHERE state = $3 AND (tenant_id, event_id, endpoint_id) IN (
    SELECT tenant_id, event_id, endpoint_id FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND state = $3 AND created_at > '-infinity'
      AND seq < (extract(epoch FROM statement_timestamp() - $4 * interval '1 day') * 1000000)::bigint
      AND done_at < statement_timestamp() - $4 * interval '1 day'
    ORDER BY seq LIMIT $5)`;

/**
 * Ends pending deliveries of changes that were added over $4 days ago. Looks at some deliveries of an endpoint behind the
 * position $3, and returns their positions.
 */
export const END_OLD_CHANGES = `
  WITH page AS MATERIALIZED (
    SELECT event_id, is_change, seq FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'pending' AND created_at > '-infinity' AND seq > $3
      AND seq < (extract(epoch FROM statement_timestamp() - $4 * interval '1 day') * 1000000)::bigint
    ORDER BY seq LIMIT $5
  ), ended AS (
    UPDATE webhook_deliveries d SET state = 'failed', reason = 'change_expired', done_at = statement_timestamp()
    FROM page p
    WHERE p.is_change AND d.tenant_id = $1 AND d.event_id = p.event_id AND d.endpoint_id = $2 AND d.state = 'pending'
  )
  SELECT seq FROM page ORDER BY seq`;

/** Whether the endpoint `e` has no queue. */
const NOTHING_WAITS = `NOT EXISTS (
    SELECT FROM webhook_queues q WHERE q.tenant_id = e.tenant_id AND q.endpoint_id = e.id AND q.due_at > '-infinity'
  )`;
/** Endpoints behind ($1, $2) that fail and for which nothing waits. */
const IDLE_ENDPOINTS = `
  SELECT tenant_id, id AS endpoint_id FROM webhook_endpoints e
  WHERE (tenant_id, id) > ($1, $2) AND enabled AND failing_since IS NOT NULL AND ${NOTHING_WAITS}
  ORDER BY tenant_id, id LIMIT $3`;
/**
 * While something waits for an endpoint, an attempt is made within 29 hours. If nothing waits, the failing delivery ended
 * otherwise, and the next failure may come after weeks without any attempt.
 */
const END_FAILING = `
  UPDATE webhook_endpoints e SET failing_since = NULL
  WHERE tenant_id = $1 AND id = $2 AND enabled AND failing_since IS NOT NULL AND ${NOTHING_WAITS}`;

const NEXT_CHANGED_WORKSPACE = `
  SELECT tenant_id FROM webhook_changes WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1`;
/** Removes changes between the ids $2 and $3 whose deliveries are gone. Returns the page that was looked at. */
const EXPIRE_CHANGES = `
  WITH page AS MATERIALIZED (
    SELECT tenant_id, id, endpoint_ids FROM webhook_changes
    WHERE tenant_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4
  ), expired AS (
    DELETE FROM webhook_changes c USING page p
    WHERE c.tenant_id = $1 AND c.id = p.id AND p.endpoint_ids IS NULL AND NOT EXISTS (
      SELECT FROM webhook_deliveries d WHERE d.tenant_id = $1 AND d.event_id = p.id
    )
  )
  SELECT id FROM page ORDER BY id`;

interface FoundEndpoint {
  readonly tenant_id: string;
  readonly endpoint_id: string;
}

interface NextEndpoint extends FoundEndpoint {
  readonly is_deleted: boolean;
}

/** What is done with many deliveries of an endpoint: in steps, each a transaction of its own, by background jobs. */
@Injectable()
export class DeliveryMaintenance implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const remove = [REMOVE_REPLAYS, REMOVE_QUEUES, REMOVE_LOCKED_QUEUES, REMOVE_DELIVERIES];
    const resume = [RESUME_QUEUES, RESUME_LOCKED_QUEUES];
    this.jobs.handle(REMOVE_JOB, (payload) => this.inParts(REMOVE_JOB, this.repeat(payload, remove)));
    this.jobs.handle(RESUME_JOB, (payload) => this.inParts(RESUME_JOB, this.repeat(payload, resume)));
    const hourly = { cron: EVERY_HOUR, onSetBack: true };
    this.jobs.handle(RETENTION_JOB, (from) => this.inParts(RETENTION_JOB, this.expireDeliveries(from)), hourly);
    this.jobs.handle(CHANGES_JOB, (from) => this.inParts(CHANGES_JOB, this.expireChanges(from)), hourly);
    this.jobs.handle(FAILING_JOB, () => this.endFailing(), { cron: EVERY_HOUR });
  }

  /** Removes the queues and deliveries of an endpoint that the caller's transaction deletes. */
  removeLater(manager: EntityManager, tenantId: string, endpointId: string): Promise<void> {
    return this.addJob(manager, REMOVE_JOB, { tenantId, endpointId });
  }

  /** Makes the deliveries of an endpoint due that the caller's transaction enables, or gives another address. */
  resumeLater(manager: EntityManager, tenantId: string, endpointId: string): Promise<void> {
    return this.addJob(manager, RESUME_JOB, { tenantId, endpointId });
  }

  /**
   * Removes deliveries whose time is over, of all workspaces, and makes those due that wait for an impossible time. In steps,
   * each of which gives the endpoint behind which another call goes on.
   */
  async *expireDeliveries(from: JobPayload): AsyncGenerator<JobPayload> {
    const { tenantId = NIL_UUID, endpointId = NIL_UUID } = from;
    for (let behind = { tenantId, endpointId }; ;) {
      const rows: NextEndpoint[] = await this.database.query(NEXT_ENDPOINT, [behind.tenantId, behind.endpointId]);
      const [next] = rows;
      if (next === undefined) return;
      for await (const _step of this.expireDeliveriesOf(next)) yield behind;
      behind = { tenantId: next.tenant_id, endpointId: next.endpoint_id };
      yield behind;
    }
  }

  /** Removes changes of values whose deliveries were removed. In steps, each of which gives where another call goes on. */
  async *expireChanges(from: JobPayload): AsyncGenerator<JobPayload> {
    const end = firstIdAt(new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS));
    let { tenantId = NIL_UUID, changeId } = from;
    for (;;) {
      if (changeId === undefined) {
        const rows: { tenant_id: string }[] = await this.database.query(NEXT_CHANGED_WORKSPACE, [tenantId]);
        const [next] = rows;
        if (next === undefined) return;
        tenantId = next.tenant_id;
      }
      const values: unknown[] = [tenantId, changeId ?? NIL_UUID, end, ROWS_PER_STEP];
      const page: { id: string }[] = await this.database.query(EXPIRE_CHANGES, values);
      changeId = page.length < ROWS_PER_STEP ? undefined : page.at(-1)?.id;
      yield { tenantId, ...(changeId === undefined ? {} : { changeId }) };
    }
  }

  /** Lets endpoints that nothing waits for fail no more. */
  async endFailing(): Promise<void> {
    for (let after: [string, string] | undefined = [NIL_UUID, NIL_UUID]; after !== undefined;) {
      const page: FoundEndpoint[] = await this.database.query(IDLE_ENDPOINTS, [...after, ROWS_PER_STEP]);
      for (const found of page) await this.change(END_FAILING, [found.tenant_id, found.endpoint_id]);
      const last: FoundEndpoint | undefined = page.length < ROWS_PER_STEP ? undefined : page.at(-1);
      after = last && [last.tenant_id, last.endpoint_id];
    }
  }

  /** In steps that leave less to do. */
  private async *expireDeliveriesOf(next: NextEndpoint): AsyncGenerator<undefined> {
    const endpoint = [next.tenant_id, next.endpoint_id] as const;
    // A worker that had read the rules before the deletion may have added deliveries since.
    if (next.is_deleted) {
      await this.addJob(this.database.manager, REMOVE_JOB, { tenantId: endpoint[0], endpointId: endpoint[1] });
    }
    while ((await this.change(PULL_BACK_QUEUES, [...endpoint, ROWS_PER_STEP])) === ROWS_PER_STEP) yield;
    for (const state of ['delivered', 'failed']) {
      while ((await this.change(EXPIRE, [...endpoint, state, KEPT_DAYS, ROWS_PER_STEP])) === ROWS_PER_STEP) yield;
    }
    // Last, because it looks at deliveries that stay: a job that goes on here would look at them again.
    await this.endOldChanges(endpoint);
  }

  private async endOldChanges(endpoint: readonly [tenantId: string, endpointId: string]): Promise<void> {
    for (let seq: string | undefined = '0'; seq !== undefined;) {
      const values: unknown[] = [...endpoint, seq, CHANGE_WAITS_DAYS_MAX, ROWS_PER_STEP];
      const page: { seq: string }[] = await this.database.query(END_OLD_CHANGES, values);
      seq = page.length < ROWS_PER_STEP ? undefined : page.at(-1)?.seq;
    }
  }

  private inParts(name: string, steps: AsyncIterable<JobPayload>): Promise<void> {
    return workInParts(this.jobs, this.database.manager, name, steps);
  }

  /** Runs each statement until it finds nothing more. */
  private async *repeat(payload: JobPayload, statements: readonly string[]): AsyncGenerator<JobPayload> {
    const { tenantId = NIL_UUID, endpointId = NIL_UUID } = payload;
    for (const statement of statements) {
      while ((await this.change(statement, [tenantId, endpointId, ROWS_PER_STEP])) > 0) yield payload;
    }
  }

  private addJob(manager: EntityManager, name: string, from: JobPayload): Promise<void> {
    return addAt(this.jobs, manager, name, from);
  }

  private async change(statement: string, values: readonly unknown[]): Promise<number> {
    // TypeORM returns [rows, count] for a statement that changes rows.
    const [, count]: [unknown, number] = await this.database.query(statement, [...values]);
    return count;
  }
}

/**
 * The same for queues that a transaction locked at that moment: one at a time, and waiting for it. So this holds no lock
 * that it could wait for in another order than others do. A queue that is left out here would stay as it is for a day,
 * or for ever.
 */
function withoutSkipping(statement: string): string {
  return statement.replace('LIMIT $3 FOR UPDATE SKIP LOCKED', 'LIMIT least($3, 1) FOR UPDATE');
}
