import type { Settings } from '../../platform/config/settings';
import { hostResolver } from '../../platform/net/resolve-host';
import type { PersonalProperties } from '../../platform/privacy/personal-properties';
import type { SecretBox } from '../../platform/secrets/secret-box';
import type { Clock } from '../../platform/values/clock';
import { changeBody } from '../domain/change-body';
import type { ClaimedDelivery } from './claimed-delivery';
import type { DeliveryMetrics } from './delivery-metrics';
import { cutOffResult, endedResult, resultOfCall, type DeliveryResult } from './delivery-result';
import { EventBodies } from './event-bodies';
import { OpenedSecrets, signedHeaders } from './signed-headers';
import { WebhookClient } from './webhook-client';

/** What a sender works with. */
export interface SenderContext {
  readonly metrics: DeliveryMetrics;
  readonly box: SecretBox;
  readonly personal: PersonalProperties;
  readonly clock: Clock;
  readonly settings: Settings;
  /** Ends all calls. */
  readonly stop: AbortSignal;
}

type Body = string | { readonly ended: 'profile_erased' | 'event_gone' };

/** Makes one attempt at a claimed delivery. */
export class DeliverySender {
  private readonly client: WebhookClient;
  private readonly secrets: OpenedSecrets;
  private readonly bodies: EventBodies;

  constructor(private readonly context: SenderContext) {
    const { box, personal, settings } = context;
    this.bodies = new EventBodies(personal);
    this.secrets = new OpenedSecrets(box);
    this.client = new WebhookClient({
      allowPrivate: settings.webhooksAllowPrivate === 'true',
      resolve: hostResolver(settings.webhooksDnsServers),
    });
  }

  /**
   * `startsBefore`: by the monotonic clock. What is too late for a call within its claim is given back, and claimed again.
   */
  async send(delivery: ClaimedDelivery, startsBefore: number): Promise<DeliveryResult> {
    const { clock, metrics, stop } = this.context;
    const { endpoint } = delivery;
    const body = await this.bodyOf(delivery);
    if (typeof body !== 'string') return endedResult(delivery, body.ended);
    if (performance.now() > startsBefore || this.isStopping()) return cutOffResult(delivery);
    const at = clock.now();
    // The id is the same for every attempt.
    const headers = signedHeaders(delivery.eventId, at, body, this.secrets.of(endpoint));
    const result = await this.client.post({ url: endpoint.url, headers, body }, stop);
    if (this.isStopping() && result.status === null) return cutOffResult(delivery);
    metrics.countAttempt(result);
    return resultOfCall(delivery, endpoint, at, result);
  }

  /** Closes all connections. */
  close(): Promise<void> {
    return this.client.close();
  }

  private isStopping(): boolean {
    return this.context.stop.aborted;
  }

  /** `ended`: nothing is left to be sent. */
  private bodyOf({ tenantId, item, endpoint }: ClaimedDelivery): Promise<Body> | Body {
    const isMasked = !endpoint.unmask;
    if (item.kind === 'change') {
      return item.change === undefined ? { ended: 'profile_erased' } : changeBody(item.change, isMasked);
    }
    const { event, customer } = item;
    if (customer === undefined || customer.isErased) return { ended: 'profile_erased' };
    if (event === undefined) return { ended: 'event_gone' };
    return this.bodies.of(tenantId, event, customer.rootId, isMasked);
  }
}
