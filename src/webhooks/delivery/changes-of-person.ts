import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { queryOf } from '../../platform/postgres/one-workspace';
import type { Statement } from '../../platform/postgres/statement';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../../platform/privacy/personal-data';
import { NIL_UUID } from '../../platform/values/uuid';
import { hasNoValuesIn } from '../../runtime/state-of-person';
import { StateService } from '../../runtime/state.service';
import { participantQueueId } from '../domain/stored-change';
import { DeliveryDto } from '../dto/delivery.dto';
import { WebhookChange } from '../entities/webhook-change.entity';
import { WebhookDelivery } from '../entities/webhook-delivery.entity';
import { CallsUnderWay } from './calls-under-way';

/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STATEMENT = 200;

/*
 * Locks are taken in the order of the dispatcher: queues, changes, deliveries. Adding deliveries takes another one, so
 * the last step keeps it from running. $1: workspace. $2: subject, or the queue of the participant. $3: rows, null: all.
 */

const STOP_RELAY = `SELECT 1 FROM webhook_sets WHERE tenant_id = $1 FOR NO KEY UPDATE`;
const LOCK_QUEUES = `SELECT 1 FROM webhook_queues WHERE tenant_id = $1 AND profile_id = $2 FOR UPDATE`;
const DELETE_OWN: Statement = {
  name: 'webhooks_delete_own_changes',
  text: `
    DELETE FROM webhook_changes c USING (
      SELECT tenant_id, id FROM webhook_changes
      WHERE tenant_id = $1::uuid AND subject = $2 AND subject <> '' AND change->>'scope' = 'user'
      ORDER BY id LIMIT $3 FOR UPDATE
    ) few
    WHERE c.tenant_id = few.tenant_id AND c.id = few.id`,
};
/** All that are left in the last step, except those of values with which the participant has begun anew. */
const DELETE_OWN_LEFT = `
  DELETE FROM webhook_changes c
  WHERE tenant_id = $1 AND subject = $2 AND subject <> '' AND change->>'scope' = 'user'
    AND ${hasNoValuesIn(`c.change->>'ownerId'`)}`;
const DELETE_DELIVERIES: Statement = {
  name: 'webhooks_delete_deliveries',
  text: `
    DELETE FROM webhook_deliveries WHERE (tenant_id, event_id, endpoint_id) IN (
      SELECT tenant_id, event_id, endpoint_id FROM webhook_deliveries
      WHERE tenant_id = $1::uuid AND profile_id = $2 AND seq > 0 ORDER BY endpoint_id, seq LIMIT $3)`,
};
const DELETE_DELIVERIES_LEFT = `
  DELETE FROM webhook_deliveries d
  WHERE tenant_id = $1 AND profile_id = $2 AND seq > 0
    AND NOT EXISTS (SELECT FROM webhook_changes c WHERE c.tenant_id = $1 AND c.id = d.event_id)`;
const DELETE_EMPTY_QUEUES = `
  DELETE FROM webhook_queues q
  WHERE tenant_id = $1 AND profile_id = $2
    AND NOT EXISTS (
      SELECT FROM webhook_deliveries d
      WHERE d.tenant_id = $1 AND d.profile_id = $2 AND d.endpoint_id = q.endpoint_id AND d.seq > 0 AND d.state = 'pending'
    )`;

/**
 * What the person has changed for others stays, but not who it was, nor what answers say. Each change is found by its key
 * (docs/adr/0092).
 */
const FORGET_WHO: Statement = {
  name: 'webhooks_forget_who',
  text: `
    WITH page AS MATERIALIZED (
      SELECT tenant_id, id FROM webhook_changes
      WHERE tenant_id = $1::uuid AND subject = $2 AND subject <> '' AND change->>'scope' <> 'user'
      ORDER BY id LIMIT $3 FOR UPDATE
    ), answers AS (
      UPDATE webhook_deliveries d SET attempts = (
        SELECT coalesce(jsonb_agg(a.value || '{"answer": ""}' ORDER BY a.number), '[]')
        FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS a (value, number)
      )
      FROM page WHERE d.tenant_id = page.tenant_id AND d.event_id = page.id AND d.attempts @? '$[*].answer ? (@ != "")'
      RETURNING 1
    )
    UPDATE webhook_changes c SET subject = '', change = (c.change::jsonb || '{"cause": {"kind": "mutation"}}')::json
    FROM page WHERE c.tenant_id = page.tenant_id AND c.id = page.id RETURNING c.queue_id`,
};

/**
 * Changes of values that endpoints get, for exports and erasures: of a person's own values, and of shared values that
 * the person changed. Own ones are removed, sent or not.
 */
@Injectable()
export class ChangesOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'webhook_changes';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly state: StateService,
    private readonly calls: CallsUnderWay,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, subject }: Person): AsyncIterable<PersonalRecord> {
    if (subject === null) return;
    for (let after: string | undefined = NIL_UUID; after !== undefined;) {
      const changes: WebhookChange[] = await this.page(tenantId, subject, after);
      const ids = changes.map(({ id }) => id);
      for (const { change } of changes) yield { record: 'webhook_change', data: change };
      const deliveries = await this.database.manager.findBy(WebhookDelivery, { tenantId, eventId: In(ids) });
      for (const delivery of deliveries) yield { record: 'webhook_delivery', data: DeliveryDto.of(delivery) };
      after = changes.length < ROWS_PER_STATEMENT ? undefined : ids.at(-1);
    }
  }

  /**
   * Each statement changes some rows in a transaction of its own. Then nothing about the person is read any more, and the
   * erasure waits for the calls that are under way.
   */
  async eraseAhead({ tenantId, subject }: Person, steps: ErasureSteps): Promise<boolean> {
    if (subject === null) return true;
    const queueIds = new Set([participantQueueId(tenantId, subject)]);
    for (const [statement, parameter] of stepsOf(tenantId, subject)) {
      for (let changed = ROWS_PER_STATEMENT; changed === ROWS_PER_STATEMENT;) {
        await steps.goOn();
        const values = [tenantId, parameter, ROWS_PER_STATEMENT];
        const [rows, count] = await this.database.query<[{ queue_id?: string }[], number]>(
          ...queryOf(statement, values, this.connection),
        );
        for (const { queue_id: queueId } of rows) if (queueId !== undefined) queueIds.add(queueId);
        changed = count;
      }
    }
    steps.waitFor(() => this.calls.waitForEnd(tenantId, [...queueIds], steps.goOn));
    return true;
  }

  /** The few that were stored since, and the queues that are empty then. */
  async erase(manager: EntityManager, { tenantId, subject }: Person): Promise<void> {
    if (subject === null) return;
    // Then no mutation of values that are erased is storing a change, and no process adds deliveries.
    await this.state.holdParticipant(manager, tenantId, subject);
    await manager.query(STOP_RELAY, [tenantId]);
    const queueId = participantQueueId(tenantId, subject);
    await manager.query(LOCK_QUEUES, [tenantId, queueId]);
    await manager.query(DELETE_OWN_LEFT, [tenantId, subject]);
    await manager.query(DELETE_DELIVERIES_LEFT, [tenantId, queueId]);
    await manager.query(DELETE_EMPTY_QUEUES, [tenantId, queueId]);
    await manager.query(...queryOf(FORGET_WHO, [tenantId, subject, null], this.connection));
  }

  private page(tenantId: string, subject: string, after: string): Promise<WebhookChange[]> {
    return this.database.manager
      .createQueryBuilder(WebhookChange, 'change')
      .where(`change.tenantId = :tenantId AND change.subject = :subject AND change.subject <> ''`, {
        tenantId,
        subject,
      })
      .andWhere('change.id > :after', { after })
      .orderBy('change.id')
      .limit(ROWS_PER_STATEMENT)
      .getMany();
  }
}

/** Each statement with its second parameter. */
function stepsOf(tenantId: string, subject: string): readonly (readonly [Statement, string])[] {
  return [
    [DELETE_OWN, subject],
    [DELETE_DELIVERIES, participantQueueId(tenantId, subject)],
    [FORGET_WHO, subject],
  ];
}
