import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ConcurrencyLimiter } from '../platform/async/concurrency-limiter';
import { SETTINGS_TOKEN, type Settings } from '../platform/config/settings';
import { DomainError } from '../platform/errors/domain-error';
import { hostResolver } from '../platform/net/resolve-host';
import { SecretBox } from '../platform/secrets/secret-box';
import { Clock } from '../platform/values/clock';
import { openSecrets, signedHeaders } from './delivery/signed-headers';
import { WebhookClient, type CallResult } from './delivery/webhook-client';
import { testBody } from './domain/body-text';
import type { Attempt } from './domain/webhook';
import { WebhooksService } from './webhooks.service';

/** Of a workspace: each may last 15 seconds. */
const AT_ONCE_MAX = 4;
const IN_ALL_MAX = 64;
const WAITING_MAX = 20;
const WAIT_MS_MAX = 15_000;
const RETRY_AFTER_SECONDS = 5;

/** Sends test calls to endpoints (contract section 15). They are no deliveries: nothing is stored or repeated. */
@Injectable()
export class TestCalls implements BeforeApplicationShutdown {
  private readonly client: WebhookClient;
  private readonly limiter = new ConcurrencyLimiter({
    runningMax: () => AT_ONCE_MAX,
    runningInAllMax: IN_ALL_MAX,
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
    refusal: tooManyTests,
  });

  constructor(
    private readonly webhooks: WebhooksService,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Settings,
  ) {
    this.client = new WebhookClient({
      allowPrivate: settings.webhooksAllowPrivate === 'true',
      resolve: hostResolver(settings.webhooksDnsServers),
    });
  }

  /** Sends one and returns what came of it. Throws `not_found`, and `unavailable` if too many are under way. */
  send(tenantId: string, webhookId: string): Promise<Attempt> {
    return this.limiter.run(tenantId, () => this.call(tenantId, webhookId));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  private async call(tenantId: string, webhookId: string): Promise<Attempt> {
    const { endpoint } = await this.webhooks.get(tenantId, webhookId);
    const at = this.clock.now();
    const body = testBody(endpoint.id, at);
    const { id: endpointId, secret, previousSecretUntil, olderSecretUntil } = endpoint;
    const previousSecret = isBefore(at, previousSecretUntil) ? endpoint.previousSecret : null;
    const olderSecret = isBefore(at, olderSecretUntil) ? endpoint.olderSecret : null;
    const secrets = openSecrets(this.box, { tenantId, endpointId, secret, previousSecret, olderSecret });
    const id = `test_${randomBytes(12).toString('hex')}`;
    const result = await this.client.post({ url: endpoint.url, headers: signedHeaders(id, at, body, secrets), body });
    return attemptOf(result, at);
  }
}

function tooManyTests(): DomainError {
  const message =
    'Too many test calls of this workspace are under way. Send the request again after the time in Retry-After.';
  return new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function attemptOf({ outcome, status, answer, durationMs }: CallResult, at: Date): Attempt {
  return { at: at.toISOString(), outcome, status, answer, durationMs };
}

function isBefore(at: Date, end: Date | null): boolean {
  return end !== null && at < end;
}
