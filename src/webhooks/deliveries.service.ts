import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DeliveryViews, type DeliveryView } from '../ingest/log/delivery-views';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { DomainError } from '../platform/errors/domain-error';
import { hostResolver } from '../platform/net/resolve-host';
import { decodeCursor, encodeCursor } from '../platform/pagination/cursor';
import { pageOf, type Page } from '../platform/pagination/page';
import { notACursor } from '../platform/pagination/time-key';
import { preparedQuery } from '../platform/postgres/prepared-query';
import type { Statement } from '../platform/postgres/statement';
import { SecretBox } from '../platform/secrets/secret-box';
import { Clock } from '../platform/values/clock';
import { isUuid } from '../platform/values/uuid';
import { ADD_AGAIN } from './delivery/delivery.sql';
import { DeliverySignal } from './delivery/delivery-signal';
import { signedHeaders } from './delivery/signed-headers';
import { WebhookClient, type CallResult } from './delivery/webhook-client';
import { testBody } from './domain/delivery-body';
import { DELIVERY_STATES, ENDPOINTS_PER_WORKSPACE_MAX, type Attempt, type DeliveryState } from './domain/webhook';
import { WebhookDelivery } from './entities/webhook-delivery.entity';
import { WebhooksService } from './webhooks.service';

const SEQ = /^\d{1,18}$/;
const LAST_SEQ = '9'.repeat(18);

/** Makes the first delivery of a queue due; one whose attempt is under way stays as it is. */
const SEND_NOW = `
  UPDATE webhook_queues SET due_at = clock_timestamp()
  WHERE tenant_id = $1 AND endpoint_id = $2 AND profile_id = $3 AND claim_id IS NULL`;

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

/** Shows deliveries, and sends them again (contract section 15). */
@Injectable()
export class DeliveriesService implements OnModuleInit, BeforeApplicationShutdown {
  private readonly client: WebhookClient;

  constructor(
    private readonly database: DataSource,
    private readonly webhooks: WebhooksService,
    private readonly signal: DeliverySignal,
    private readonly views: DeliveryViews,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.client = new WebhookClient({
      allowPrivate: settings.webhooksAllowPrivate === 'true',
      resolve: hostResolver(settings.webhooksDnsServers),
    });
  }

  onModuleInit(): void {
    this.views.register((tenantId, eventIds) => this.ofEvents(tenantId, eventIds));
  }

  /** One page, newest first. Throws `not_found`. */
  async list(
    tenantId: string,
    webhookId: string,
    { state, cursor, limit }: { state?: DeliveryState | undefined; cursor?: string | undefined; limit: number },
  ): Promise<Page<WebhookDelivery>> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const below = startOf(cursor);
    const found: WebhookDelivery[] = [];
    for (const each of state === undefined ? DELIVERY_STATES : [state]) {
      found.push(...(await this.pageOfState(tenantId, endpoint.id, each, below, limit + 1)));
    }
    const sorted = found.toSorted((a, b) => Number(BigInt(b.seq) - BigInt(a.seq)) || (a.eventId < b.eventId ? 1 : -1));
    return pageOf(sorted, limit, ({ seq, eventId }) => encodeCursor([seq, eventId]));
  }

  /**
   * Sends a delivery at once: one that waits for its next attempt, or again one that is done, behind all that its
   * customer waits for. Throws `not_found`.
   */
  async retry(tenantId: string, webhookId: string, eventId: string): Promise<WebhookDelivery> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const delivery = await this.find(tenantId, endpoint.id, eventId);
    const { profileId } = delivery;
    await this.database.transaction(async (manager) => {
      await manager.query(ADD_AGAIN.text, [[tenantId], [endpoint.id], [profileId], [delivery.eventId]]);
      await manager.query(SEND_NOW, [tenantId, endpoint.id, profileId]);
    });
    this.signal.announce();
    return this.find(tenantId, endpoint.id, eventId);
  }

  /** Sends a test call and returns what came of it; nothing is stored. Throws `not_found`. */
  async test(tenantId: string, webhookId: string): Promise<Attempt> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const at = this.clock.now();
    const body = testBody(endpoint.id, at);
    const isRotating = endpoint.previousSecretUntil !== null && endpoint.previousSecretUntil > at;
    const sealed = [endpoint.secret, ...(isRotating ? [endpoint.previousSecret] : [])];
    const secrets = sealed.flatMap((each) => (each === null ? [] : [this.box.open(each, tenantId, endpoint.id)]));
    const id = `test_${randomBytes(12).toString('hex')}`;
    const result = await this.client.post({ url: endpoint.url, headers: signedHeaders(id, at, body, secrets), body });
    return attemptOf(result, at);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  /** For the views of events. */
  private async ofEvents(
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly DeliveryView[]>> {
    const values = [tenantId, eventIds];
    const rows = await preparedQuery<DeliveryView & { readonly eventId: string }>(this.database, OF_EVENTS, values);
    const found = new Map<string, DeliveryView[]>();
    for (const { eventId, ...view } of rows) found.set(eventId, [...(found.get(eventId) ?? []), view]);
    return found;
  }

  private async find(tenantId: string, endpointId: string, eventId: string): Promise<WebhookDelivery> {
    const delivery = isUuid(eventId)
      ? await this.database.manager.findOneBy(WebhookDelivery, { tenantId, eventId, endpointId })
      : null;
    if (delivery === null) throw new DomainError('not_found', 'The webhook has no delivery with this id.');
    return delivery;
  }

  private pageOfState(
    tenantId: string,
    endpointId: string,
    state: DeliveryState,
    { seq, eventId }: { readonly seq: string; readonly eventId: string },
    most: number,
  ): Promise<WebhookDelivery[]> {
    return this.database.manager
      .createQueryBuilder(WebhookDelivery, 'delivery')
      .where('delivery.tenantId = :tenantId AND delivery.endpointId = :endpointId', { tenantId, endpointId })
      .andWhere(`delivery.state = :state AND delivery.createdAt > '-infinity' AND delivery.seq <= :seq`, { state, seq })
      .andWhere('(delivery.seq, delivery.eventId) < (:seq, :eventId)', { eventId })
      .orderBy('delivery.seq', 'DESC')
      .addOrderBy('delivery.eventId', 'DESC')
      .limit(most)
      .getMany();
  }
}

function startOf(cursor: string | undefined): { readonly seq: string; readonly eventId: string } {
  if (cursor === undefined) return { seq: LAST_SEQ, eventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  const [seq, eventId] = decodeCursor(cursor, 2) ?? [];
  if (seq === undefined || eventId === undefined || !SEQ.test(seq) || !isUuid(eventId)) throw notACursor();
  return { seq, eventId };
}

function attemptOf({ outcome, status, answer, durationMs }: CallResult, at: Date): Attempt {
  return { at: at.toISOString(), outcome, status, answer, durationMs };
}
