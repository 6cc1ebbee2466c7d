import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  PersonalData,
  type ErasureSteps,
  type Person,
  type PersonalDataKeeper,
  type PersonalRecord,
} from '../../platform/privacy/personal-data';
import { NIL_UUID } from '../../platform/values/uuid';
import { UnlinkedIdentifiers } from '../../identity/unlinked-identifiers';
import { DeliveryDto } from '../dto/delivery.dto';
import { WebhookDelivery } from '../entities/webhook-delivery.entity';
import { CallsUnderWay } from './calls-under-way';

/** Rows of one statement: few enough to hold their locks for milliseconds. */
const ROWS_PER_STATEMENT = 200;

interface Position {
  readonly endpoint_id: string;
  readonly seq: string;
}

/** The attempts of a delivery `d` without what endpoints answered. */
const WITHOUT_ANSWERS = `(
      SELECT coalesce(jsonb_agg(a.value || '{"answer": ""}' ORDER BY a.number), '[]')
      FROM jsonb_array_elements(d.attempts) WITH ORDINALITY AS a (value, number)
    )`;
const HAS_ANSWERS = `d.attempts @? '$[*].answer ? (@ != "")'`;

/** Answers of endpoints may repeat what was sent. Behind ($3, $4) in the order of the index. */
const ERASE_ANSWERS = `
  WITH page AS MATERIALIZED (
    SELECT tenant_id, event_id, endpoint_id, seq FROM webhook_deliveries
    WHERE tenant_id = $1 AND profile_id = $2 AND (endpoint_id, seq) > ($3, $4) AND seq > 0
    ORDER BY endpoint_id, seq LIMIT $5
  ), erased AS (
    UPDATE webhook_deliveries d SET attempts = ${WITHOUT_ANSWERS}
    FROM page s
    WHERE d.tenant_id = s.tenant_id AND d.event_id = s.event_id AND d.endpoint_id = s.endpoint_id AND ${HAS_ANSWERS}
    RETURNING 1
  )
  SELECT endpoint_id, seq FROM page ORDER BY endpoint_id, seq`;

const ERASE_ANSWERS_OF_EVENTS = `
  UPDATE webhook_deliveries d SET attempts = ${WITHOUT_ANSWERS}
  WHERE d.tenant_id = $1 AND d.event_id = ANY($2) AND ${HAS_ANSWERS}`;

/**
 * The answers of endpoints to calls about a person, for exports and erasures. Bodies of calls are not stored. Pending
 * deliveries of an erased person are not sent: the dispatcher ends them.
 */
@Injectable()
export class DeliveriesOfPerson implements PersonalDataKeeper, OnModuleInit {
  readonly name = 'webhook_deliveries';

  constructor(
    private readonly database: DataSource,
    private readonly data: PersonalData,
    private readonly calls: CallsUnderWay,
    private readonly unlinked: UnlinkedIdentifiers,
  ) {}

  onModuleInit(): void {
    this.data.register(this);
  }

  async *exportOf({ tenantId, profileIds }: Person): AsyncIterable<PersonalRecord> {
    for (const profileId of profileIds) {
      for (let after: Position | undefined = { endpoint_id: NIL_UUID, seq: '0' }; after !== undefined;) {
        const found = await this.page(tenantId, profileId, after);
        for (const delivery of found) {
          yield { record: 'webhook_delivery', data: DeliveryDto.of(delivery) };
        }
        const last: WebhookDelivery | undefined = found.length < ROWS_PER_STATEMENT ? undefined : found.at(-1);
        after = last === undefined ? undefined : { endpoint_id: last.endpointId, seq: last.seq };
      }
    }
  }

  /**
   * Statement by statement, each a transaction of its own, so that locks are short. Calls that are under way end before the
   * erasure is answered, and none begins any more: nothing is sent after the answer.
   */
  async eraseAhead(person: Person, { goOn, waitFor }: ErasureSteps): Promise<boolean> {
    waitFor(() => this.calls.waitForEnd(person.tenantId, person.profileIds, goOn));
    waitFor(() => this.eraseAnswersOfOthers(person, goOn));
    await this.eraseAnswers(this.database.manager, person, goOn);
    return true;
  }

  /** Those of calls that ended since. */
  async erase(manager: EntityManager, person: Person): Promise<void> {
    await this.eraseAnswers(manager, person);
  }

  private async eraseAnswers(
    manager: EntityManager,
    { tenantId, profileIds }: Person,
    beforeEach?: () => Promise<void>,
  ): Promise<void> {
    for (const profileId of profileIds) {
      for (let after: Position | undefined = { endpoint_id: NIL_UUID, seq: '0' }; after !== undefined;) {
        await beforeEach?.();
        const values = [tenantId, profileId, after.endpoint_id, after.seq, ROWS_PER_STATEMENT];
        const rows: Position[] = await manager.query(ERASE_ANSWERS, values);
        after = rows.length < ROWS_PER_STATEMENT ? undefined : rows.at(-1);
      }
    }
  }

  /**
   * Of calls about events of other customers that named the person. These events do not name the person any more, so that
   * no further call does.
   */
  private async eraseAnswersOfOthers({ tenantId, identifiers }: Person, goOn: () => Promise<void>): Promise<void> {
    const { manager } = this.database;
    const pages = { after: NIL_UUID, perPage: ROWS_PER_STATEMENT };
    for await (const naming of this.unlinked.eventsNaming(manager, tenantId, identifiers, pages)) {
      const eventIds = naming.map(({ eventId }) => eventId);
      const queues: { id: string }[] = await manager.query(
        'SELECT DISTINCT profile_id AS id FROM webhook_deliveries WHERE tenant_id = $1 AND event_id = ANY($2)',
        [tenantId, eventIds],
      );
      if (queues.length === 0) continue;
      const queueIds = queues.map(({ id }) => id);
      await this.calls.waitForEnd(tenantId, queueIds, goOn);
      await manager.query(ERASE_ANSWERS_OF_EVENTS, [tenantId, eventIds]);
    }
  }

  private page(
    tenantId: string,
    profileId: string,
    { endpoint_id: endpointId, seq }: Position,
  ): Promise<WebhookDelivery[]> {
    return this.database.manager
      .createQueryBuilder(WebhookDelivery, 'delivery')
      .where('delivery.tenantId = :tenantId AND delivery.queueId = :profileId', { tenantId, profileId })
      .andWhere('(delivery.endpointId, delivery.seq) > (:endpointId, :seq) AND delivery.seq > 0', { endpointId, seq })
      .orderBy('delivery.endpointId')
      .addOrderBy('delivery.seq')
      .limit(ROWS_PER_STATEMENT)
      .getMany();
  }
}
