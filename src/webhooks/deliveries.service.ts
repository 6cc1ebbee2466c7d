import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { DeliveryViews, type DeliveryView } from '../ingest/log/delivery-views';
import { DomainError } from '../platform/errors/domain-error';
import { decodeCursor, encodeCursor } from '../platform/pagination/cursor';
import type { Page } from '../platform/pagination/page';
import { pageThatFits, type LargeRows } from '../platform/pagination/page-bytes';
import { notACursor } from '../platform/pagination/time-key';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { queryOf } from '../platform/postgres/one-workspace';
import type { ReadRows } from '../platform/postgres/prepared-query';
import type { Statement } from '../platform/postgres/statement';
import { PersonalProperties } from '../platform/privacy/personal-properties';
import { TimeSlice } from '../platform/values/time-slice';
import { isUuid } from '../platform/values/uuid';
import { ADD_AGAIN } from './delivery/delivery.sql';
import { DeliverySignal } from './delivery/delivery-signal';
import { DELIVERY_STATES, ENDPOINTS_PER_WORKSPACE_MAX, type DeliveryState } from './domain/webhook';
import { DeliveryDto } from './dto/delivery.dto';
import { WebhookDelivery } from './entities/webhook-delivery.entity';
import { WebhooksService } from './webhooks.service';

const SEQ = /^\d{1,18}$/;
const LAST_SEQ = '9'.repeat(18);

/** Makes the first delivery of a queue due; one whose attempt is under way stays as it is. */
const SEND_NOW = `
  UPDATE webhook_queues SET due_at = statement_timestamp()
  WHERE tenant_id = $1 AND endpoint_id = $2 AND profile_id = $3 AND claim_id IS NULL`;

/** Where a delivery stands in the list. */
interface DeliveryKey {
  readonly seq: string;
  readonly eventId: string;
}

/**
 * Keys of deliveries in the states $3, newest first: at most $6 behind ($4, $5). Each state is read by its index, and not
 * further than the page may reach. No attempts are read.
 */
const READ_KEYS = `
  SELECT d.seq, d.event_id AS "eventId"
  FROM unnest($3::text[]) AS u (state)
  CROSS JOIN LATERAL (
    SELECT seq, event_id FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND state = u.state AND created_at > '-infinity'
      AND seq <= $4::bigint AND (seq, event_id) < ($4::bigint, $5::uuid)
    ORDER BY seq DESC, event_id DESC LIMIT $6
  ) d
  ORDER BY d.seq DESC, d.event_id DESC LIMIT $6`;

/** A delivery may have 20 attempts, each with a thousand characters of an answer. */
const LISTED_DELIVERIES: LargeRows = {
  table: 'webhook_deliveries',
  scope: ['tenant_id', 'endpoint_id'],
  id: 'event_id',
  idType: 'uuid',
  bytes: '512 + octet_length(r.attempts::text)',
};

const OF_EVENTS: Statement = {
  name: 'webhooks_of_events',
  text: `
  SELECT d.event_id AS "eventId", d.endpoint_id AS "webhookId", d.state, d.attempt_count AS "attemptCount"
  FROM unnest($2::uuid[]) AS u (event_id)
  CROSS JOIN LATERAL (
    SELECT * FROM webhook_deliveries WHERE tenant_id = $1 AND event_id = u.event_id
    ORDER BY endpoint_id LIMIT ${ENDPOINTS_PER_WORKSPACE_MAX}
  ) d`,
};

/** For the views of events. */
async function deliveriesOfEvents(
  read: ReadRows,
  tenantId: string,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, readonly DeliveryView[]>> {
  const rows = await read<DeliveryView & { readonly eventId: string }>(OF_EVENTS, [tenantId, eventIds]);
  const found = new Map<string, DeliveryView[]>();
  for (const { eventId, ...view } of rows) found.set(eventId, [...(found.get(eventId) ?? []), view]);
  return found;
}

/** Shows deliveries, and sends them again (contract section 15). */
@Injectable()
export class DeliveriesService implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhooksService,
    private readonly signal: DeliverySignal,
    private readonly views: DeliveryViews,
    private readonly personal: PersonalProperties,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  onModuleInit(): void {
    this.views.register(deliveriesOfEvents);
  }

  /** One page, newest first; a shorter one if its deliveries are large. Throws `not_found`. */
  async list(
    tenantId: string,
    webhookId: string,
    { state, cursor, limit }: { state?: DeliveryState | undefined; cursor?: string | undefined; limit: number },
  ): Promise<Page<WebhookDelivery>> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const start = startOf(cursor);
    const states = state === undefined ? DELIVERY_STATES : [state];
    const found: DeliveryKey[] = await this.database.query(READ_KEYS, [
      ...[tenantId, endpoint.id, states, start.seq, start.eventId],
      // One more than the page shows that there is a next one.
      limit + 1,
    ]);
    const page = await pageThatFits(this.database, LISTED_DELIVERIES, [tenantId, endpoint.id], {
      found,
      limit,
      nameOf: ({ eventId }: DeliveryKey) => eventId,
      cursorAfter: ({ seq, eventId }) => encodeCursor([seq, eventId]),
    });
    const ids = page.rows.map(({ eventId }) => eventId);
    // By state once more: one may have been delivered since its key was read.
    const where = { tenantId, endpointId: endpoint.id, eventId: In(ids), state: In([...states]) };
    const deliveries = await this.database.manager.findBy(WebhookDelivery, where);
    const byId = new Map(deliveries.map((delivery) => [delivery.eventId, delivery]));
    return { ...page, rows: ids.flatMap((id) => byId.get(id) ?? []) };
  }

  /**
   * Sends a delivery at once: one that waits for its next attempt, or again one that is done, behind all that its
   * customer waits for. Throws `not_found`.
   */
  async retry(tenantId: string, webhookId: string, eventId: string): Promise<WebhookDelivery> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const delivery = await this.find(tenantId, endpoint.id, eventId);
    const { queueId, createdAt } = delivery;
    const added = await this.database.transaction(async (manager) => {
      const values = [[tenantId], [endpoint.id], [queueId], [delivery.eventId]];
      await manager.query(...queryOf(ADD_AGAIN, values, this.connection));
      const now = await this.find(tenantId, endpoint.id, eventId, manager);
      // It was removed meanwhile, with its person or its endpoint, and stays so.
      if (now.createdAt.getTime() !== createdAt.getTime()) throw noSuchDelivery();
      await manager.query(SEND_NOW, [tenantId, endpoint.id, queueId]);
      return now;
    });
    this.signal.announce([{ tenantId, endpointId: endpoint.id }]);
    return added;
  }

  /** Views of deliveries, with personal data masked in the answers. */
  async viewsOf(tenantId: string, deliveries: readonly WebhookDelivery[]): Promise<DeliveryDto[]> {
    const personal = await this.personal.namesOf(tenantId, null);
    const slice = new TimeSlice();
    const shown: DeliveryDto[] = [];
    for (const delivery of deliveries) shown.push(await slice.run(DeliveryDto.masked(delivery, personal)));
    return shown;
  }

  /** The same of one. */
  async viewOf(tenantId: string, delivery: WebhookDelivery): Promise<DeliveryDto> {
    return new TimeSlice().run(DeliveryDto.masked(delivery, await this.personal.namesOf(tenantId, null)));
  }

  private async find(
    tenantId: string,
    endpointId: string,
    eventId: string,
    manager = this.database.manager,
  ): Promise<WebhookDelivery> {
    const delivery = isUuid(eventId)
      ? await manager.findOneBy(WebhookDelivery, { tenantId, eventId, endpointId })
      : null;
    if (delivery === null) throw noSuchDelivery();
    return delivery;
  }
}

function startOf(cursor: string | undefined): DeliveryKey {
  if (cursor === undefined) return { seq: LAST_SEQ, eventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  const [seq, eventId] = decodeCursor(cursor, 2) ?? [];
  if (seq === undefined || eventId === undefined || !SEQ.test(seq) || !isUuid(eventId)) throw notACursor();
  return { seq, eventId };
}

function noSuchDelivery(): DomainError {
  return new DomainError('not_found', 'The webhook has no delivery with this id.');
}
