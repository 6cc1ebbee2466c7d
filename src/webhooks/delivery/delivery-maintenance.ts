import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import { addAt, handleInParts, type StepsOfJob } from '../../platform/jobs/in-steps';
import { Jobs, type JobOptions, type JobPayload } from '../../platform/jobs/jobs';
import { Clock } from '../../platform/values/clock';
import { firstIdAt } from '../../platform/values/ids';
import { NIL_UUID } from '../../platform/values/uuid';
import * as sql from './delivery-maintenance.sql';

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

/** What ends deliveries of an endpoint, by their state. The pending ones last, most of which stay. */
const ENDS = [
  { state: 'delivered', statement: sql.REMOVE_OLD, days: KEPT_DAYS },
  { state: 'failed', statement: sql.REMOVE_OLD, days: KEPT_DAYS },
  { state: 'pending', statement: sql.END_CHANGES, days: CHANGE_WAITS_DAYS_MAX },
];

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
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    const remove = [sql.REMOVE_REPLAYS, sql.REMOVE_QUEUES, sql.REMOVE_LOCKED_QUEUES, sql.REMOVE_DELIVERIES];
    const resume = [sql.RESUME_QUEUES, sql.RESUME_LOCKED_QUEUES];
    this.inParts(REMOVE_JOB, (endpoint) => this.repeat(endpoint, remove));
    this.inParts(RESUME_JOB, (endpoint) => this.repeat(endpoint, resume));
    const hourly = { cron: EVERY_HOUR, onSetBack: true };
    this.inParts(RETENTION_JOB, (from) => this.expireDeliveries(from), hourly);
    this.inParts(CHANGES_JOB, (from) => this.expireChanges(from), hourly);
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
   * Ends and removes deliveries whose time is over, of all workspaces, and makes those due that wait for an impossible time.
   * In steps, each of which gives the endpoint, and the delivery of it, behind which another call goes on.
   */
  async *expireDeliveries(from: JobPayload): AsyncGenerator<JobPayload> {
    let { tenantId = NIL_UUID, endpointId = NIL_UUID } = from;
    if (from['state'] !== undefined) yield* this.endOldOf(from);
    for (;;) {
      const rows: NextEndpoint[] = await this.database.query(sql.NEXT_ENDPOINT, [tenantId, endpointId]);
      const [next] = rows;
      if (next === undefined) return;
      for await (const _step of this.makeReady(next)) yield { tenantId, endpointId };
      ({ tenant_id: tenantId, endpoint_id: endpointId } = next);
      yield* this.endOldOf({ tenantId, endpointId });
    }
  }

  /** Removes changes of values whose deliveries were removed. In steps, each of which gives where another call goes on. */
  async *expireChanges(from: JobPayload): AsyncGenerator<JobPayload> {
    const end = firstIdAt(new Date(this.clock.now().getTime() - KEPT_DAYS * DAY_MS));
    let { tenantId = NIL_UUID, changeId } = from;
    for (;;) {
      if (changeId === undefined) {
        const rows: { tenant_id: string }[] = await this.database.query(sql.NEXT_CHANGED_WORKSPACE, [tenantId]);
        const [next] = rows;
        if (next === undefined) return;
        tenantId = next.tenant_id;
      }
      const values: unknown[] = [tenantId, changeId ?? NIL_UUID, end, ROWS_PER_STEP];
      const page: { id: string }[] = await this.database.query(...queryOf(sql.EXPIRE_CHANGES, values, this.connection));
      changeId = page.length < ROWS_PER_STEP ? undefined : page.at(-1)?.id;
      yield { tenantId, ...(changeId === undefined ? {} : { changeId }) };
    }
  }

  /** Lets endpoints that nothing waits for fail no more. */
  async endFailing(): Promise<void> {
    for (let after: [string, string] | undefined = [NIL_UUID, NIL_UUID]; after !== undefined;) {
      const page: FoundEndpoint[] = await this.database.query(sql.IDLE_ENDPOINTS, [...after, ROWS_PER_STEP]);
      for (const found of page) await this.change(sql.END_FAILING, [found.tenant_id, found.endpoint_id]);
      const last: FoundEndpoint | undefined = page.length < ROWS_PER_STEP ? undefined : page.at(-1);
      after = last && [last.tenant_id, last.endpoint_id];
    }
  }

  /** What is done with an endpoint before its deliveries are looked at. In steps that leave less to do. */
  private async *makeReady({ tenant_id, endpoint_id, is_deleted }: NextEndpoint): AsyncGenerator<undefined> {
    // A worker that had read the rules before the deletion may have added deliveries since.
    if (is_deleted) {
      await this.addJob(this.database.manager, REMOVE_JOB, { tenantId: tenant_id, endpointId: endpoint_id });
    }
    const values = [tenant_id, endpoint_id, ROWS_PER_STEP];
    while ((await this.change(sql.PULL_BACK_QUEUES, values)) === ROWS_PER_STEP) yield;
  }

  /** Every old delivery of an endpoint is looked at once, so a pass costs the same whether much is over or nothing. */
  private async *endOldOf(from: JobPayload): AsyncGenerator<JobPayload> {
    const { tenantId = NIL_UUID, endpointId = NIL_UUID, state: first = 'delivered' } = from;
    let { seq = '0', eventId = NIL_UUID } = from;
    for (const { state, statement, days } of ENDS.slice(ENDS.findIndex((end) => end.state === first))) {
      for (;;) {
        const values = [tenantId, endpointId, state, seq, eventId, days, ROWS_PER_STEP];
        const page: { seq: string; event_id: string }[] = await this.database.query(sql.FIND_OLD, values);
        const found = [tenantId, endpointId, page.map(({ event_id }) => event_id), days];
        await this.change(...queryOf(statement, found, this.connection));
        const last = page.at(-1);
        if (last === undefined || page.length < ROWS_PER_STEP) break;
        ({ seq, event_id: eventId } = last);
        yield { tenantId, endpointId, state, seq, eventId };
      }
      [seq, eventId] = ['0', NIL_UUID];
    }
    yield { tenantId, endpointId };
  }

  private inParts(name: string, steps: StepsOfJob, options?: JobOptions): void {
    handleInParts(this.jobs, this.database.manager, name, steps, options);
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
