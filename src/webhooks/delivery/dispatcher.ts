import { setMaxListeners } from 'node:events';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { hostResolver } from '../../platform/net/resolve-host';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { databaseFailure } from '../../platform/postgres/database-errors';
import { PipelinedConnection } from '../../platform/postgres/pipelined-connection';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { SecretBox } from '../../platform/secrets/secret-box';
import { Clock } from '../../platform/values/clock';
import { newMark } from '../../platform/values/ids';
import { TimeSlice } from '../../platform/values/time-slice';
import { NIL_UUID } from '../../platform/values/uuid';
import { changeBody } from '../domain/change-delivery';
import { deliveryBody } from '../domain/delivery-body';
import { ChangeRelay } from './change-relay';
import { FIND_ENDPOINTS } from './delivery.sql';
import { DeliveryMetrics } from './delivery-metrics';
import type { ClaimedDelivery, DueEndpoint } from './claimed-delivery';
import { CLAIM_MS, DeliveryQueue } from './delivery-queue';
import { cutOffResult, endedResult, resultOfCall, type DeliveryResult } from './delivery-result';
import { DeliverySignal } from './delivery-signal';
import { DeliverySlots, SLOTS, type Destination } from './delivery-slots';
import { openSecrets, signedHeaders } from './signed-headers';
import { ATTEMPT_MS_MAX, WebhookClient } from './webhook-client';

/** Of one look at the queues; the next one goes on after them. */
const ENDPOINTS_PER_POLL = 200;
/** Deliveries that are claimed at once; each may hold an event of 64 KiB. */
const CLAIMED_AT_ONCE_MAX = 64;
/** Without news the queues are looked at so often. */
const POLL_MS = 150;
/** After a signal: the transaction that added the deliveries commits meanwhile. */
const SIGNAL_MS = 15;
/** Results of calls that end within so long are stored together; otherwise each of them costs a transaction. */
const RESULTS_MS = 5;
/** Changes that other processes stored are looked for so often. */
const CHANGES_POLL_MS = 300;
const RECONNECT_MS = 500;
const LOCK_TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT_MS = 5_000;

/** Sorts before every endpoint. */
const BEFORE_ALL = { tenantId: NIL_UUID, endpointId: NIL_UUID };

interface Started {
  readonly delivery: ClaimedDelivery;
  readonly endpoint: DueEndpoint;
  /** By the monotonic clock: a call that begins later could outlast the claim. */
  readonly startsBefore: number;
}

/**
 * Sends deliveries (contract section 15), in any number of processes at once. One loop on one connection claims queues
 * and stores results; no transaction is open while a call is under way. Deliveries of a killed process are sent again
 * when its claims have run out.
 */
@Injectable()
export class WebhookDispatcher implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(WebhookDispatcher.name);
  private readonly outage = new OutageLog(this.logger, {
    began: 'Webhooks wait for the database.',
    ended: 'Webhooks are sent again.',
  });
  private readonly connection: PipelinedConnection;
  private readonly client: WebhookClient;
  private readonly slots = new DeliverySlots();
  private readonly stopped = new AbortController();
  private readonly running = new Set<Promise<void>>();
  /** Results that are not stored yet. */
  private results: DeliveryResult[] = [];
  /** How often slots were shared out. */
  private looks = 0;
  private after: Pick<DueEndpoint, 'tenantId' | 'endpointId'> = BEFORE_ALL;
  /** The workspace behind which changes are looked for. */
  private changesAfter: string = NIL_UUID;
  /** When they are looked for again, by the monotonic clock. */
  private changesDueAt = 0;
  private storing: NodeJS.Timeout | undefined;
  private wake: () => void = () => undefined;
  private isAwake = false;
  private working: Promise<void> | undefined;

  constructor(
    private readonly queue: DeliveryQueue,
    private readonly changes: ChangeRelay,
    private readonly signal: DeliverySignal,
    private readonly metrics: DeliveryMetrics,
    private readonly box: SecretBox,
    private readonly personal: PersonalProperties,
    private readonly clock: Clock,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    @Inject(CONNECTION_SETTINGS) connection: ConnectionSettings,
  ) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-webhooks',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    // Each call listens.
    setMaxListeners(SLOTS.inAll, this.stopped.signal);
    this.client = new WebhookClient({
      allowPrivate: settings.webhooksAllowPrivate === 'true',
      resolve: hostResolver(settings.webhooksDnsServers),
    });
  }

  /** Starts sending. A process with `ROLE=api` does not call it. */
  start(): void {
    if (this.working !== undefined) return;
    this.signal.listen(() => void setTimeout(() => this.wakeUp(), SIGNAL_MS).unref());
    this.working = this.work();
  }

  /** Starts no further call. Calls under way are cut off, and their deliveries are due at once for other processes. */
  async stop(): Promise<void> {
    this.signal.listen(undefined);
    this.stopped.abort();
    this.wakeUp();
    await this.working;
  }

  onModuleDestroy(): Promise<void> {
    return this.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.connection.close(), this.client.close()]);
  }

  private async work(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      try {
        await this.storeResults();
        const isMore = await this.relayChanges();
        const started = await this.claimSome();
        this.outage.succeeded();
        if (started === 0 && !isMore) await this.pause(POLL_MS);
      } catch (error) {
        this.failed(error);
        await this.pause(RECONNECT_MS);
      }
    }
    await Promise.all(this.running);
    await this.storeResults().catch((error: unknown) => this.failed(error));
  }

  /** Stores what calls have brought. When that fails, the results are kept for the next time. */
  private async storeResults(): Promise<void> {
    const results = this.results.splice(0);
    if (results.length === 0) return;
    try {
      await this.connection.transaction((open) => this.queue.finish(open, results, this.clock.now()));
    } catch (error) {
      this.results.unshift(...results);
      throw error;
    }
  }

  /** Adds deliveries for changes of values. Returns whether there may be more. */
  private async relayChanges(): Promise<boolean> {
    const now = performance.now();
    if (!this.signal.takeChanges() && now < this.changesDueAt) return false;
    const failed = (error: unknown): void => this.failed(error);
    const { after, isMore } = await this.changes.run(this.connection, this.changesAfter, failed);
    this.changesAfter = after;
    this.changesDueAt = isMore ? 0 : now + CHANGES_POLL_MS;
    return isMore;
  }

  /** Claims deliveries for which there are slots, and begins their calls. Returns how many. */
  private async claimSome(): Promise<number> {
    const { tenantId, endpointId } = this.after;
    const found = await this.connection.query<DueEndpoint>(FIND_ENDPOINTS, [tenantId, endpointId, ENDPOINTS_PER_POLL]);
    const last = found.at(-1);
    const hasMore = found.length === ENDPOINTS_PER_POLL;
    this.after = hasMore && last !== undefined ? last : BEFORE_ALL;
    const wanted = this.share(found.filter(({ isDue }) => isDue === true));
    if (wanted.length === 0) return hasMore ? 1 : 0;
    const startsBefore = performance.now() + CLAIM_MS - ATTEMPT_MS_MAX - STATEMENT_TIMEOUT_MS;
    const claimed = await this.connection.transaction((open) => this.queue.claim(open, wanted, newMark()));
    const endpoints = new Map(wanted.map(({ endpoint }) => [endpoint.endpointId, endpoint]));
    for (const delivery of claimed) {
      const endpoint = endpoints.get(delivery.endpointId);
      if (endpoint !== undefined) this.run({ delivery, endpoint, startsBefore });
    }
    return claimed.length;
  }

  /** How many deliveries of each endpoint to claim: one of each in turn, as long as there are slots. */
  private share(due: readonly DueEndpoint[]): { endpoint: DueEndpoint; most: number }[] {
    // Each look begins behind another endpoint, so that none always takes the slot that has become free.
    this.looks += 1;
    const first = due.length === 0 ? 0 : this.looks % due.length;
    const inTurn = [...due.slice(first), ...due.slice(0, first)];
    const shares = inTurn.map((endpoint) => ({ endpoint, destination: destinationOf(endpoint), most: 0 }));
    let left = CLAIMED_AT_ONCE_MAX;
    for (let isAny = true; isAny && left > 0;) {
      isAny = false;
      for (const share of shares) {
        if (left === 0 || this.slots.free(share.destination) === 0) continue;
        this.slots.take(share.destination);
        share.most += 1;
        left -= 1;
        isAny = true;
      }
    }
    // The calls take the slots themselves.
    for (const { destination, most } of shares) this.slots.giveBack(destination, most);
    return shares.filter(({ most }) => most > 0).map(({ endpoint, most }) => ({ endpoint, most }));
  }

  private run(started: Started): void {
    const destination = destinationOf(started.endpoint);
    this.slots.take(destination);
    const running = this.attempt(started)
      .then(
        (result) => {
          this.results.push(result);
        },
        // The claim runs out, and the delivery is tried again.
        (error: unknown) => this.failed(error),
      )
      .finally(() => {
        this.running.delete(running);
        this.slots.giveBack(destination);
        this.storeSoon();
      });
    this.running.add(running);
  }

  /** What is too late for a call within its claim is given back, and claimed again. */
  private async attempt({ delivery, endpoint, startsBefore }: Started): Promise<DeliveryResult> {
    const body = await this.bodyOf(delivery, endpoint);
    if (typeof body !== 'string') return endedResult(delivery, body.ended);
    if (performance.now() > startsBefore || this.isStopping()) return cutOffResult(delivery);
    const at = this.clock.now();
    const call = { url: endpoint.url, headers: this.headersOf(delivery, endpoint, at, body), body };
    const result = await this.client.post(call, this.stopped.signal);
    if (this.isStopping() && result.status === null) return cutOffResult(delivery);
    this.metrics.countAttempt(result);
    return resultOfCall(delivery, endpoint, at, result);
  }

  /** `ended`: nothing is left to be sent. */
  private async bodyOf(
    { tenantId, subject }: ClaimedDelivery,
    { unmask }: DueEndpoint,
  ): Promise<string | { readonly ended: 'profile_erased' | 'event_gone' }> {
    if (subject.kind === 'change') {
      return subject.change === undefined ? { ended: 'profile_erased' } : changeBody(subject.change, !unmask);
    }
    const { event, customer } = subject;
    if (customer === undefined || customer.isErased) return { ended: 'profile_erased' };
    if (event === undefined) return { ended: 'event_gone' };
    const personal = unmask ? null : await this.personal.namesOf(tenantId, event.eventType);
    return new TimeSlice().run(deliveryBody(event, { customerId: customer.rootId, personal }));
  }

  private headersOf(
    { eventId }: ClaimedDelivery,
    endpoint: DueEndpoint,
    at: Date,
    body: string,
  ): Record<string, string> {
    // The id is the same for every attempt.
    return signedHeaders(eventId, at, body, openSecrets(this.box, endpoint));
  }

  private isStopping(): boolean {
    return this.stopped.signal.aborted;
  }

  /** Wakes the loop once for all calls that end now. */
  private storeSoon(): void {
    this.storing ??= setTimeout(() => {
      this.storing = undefined;
      this.wakeUp();
    }, RESULTS_MS);
  }

  private wakeUp(): void {
    this.isAwake = true;
    this.wake();
  }

  /** Ends early when there is something to do. */
  private async pause(ms: number): Promise<void> {
    if (!this.isAwake) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      const timer = setTimeout(this.wake, ms);
      await woken;
      clearTimeout(timer);
    }
    this.isAwake = false;
  }

  private failed(error: unknown): void {
    if (this.stopped.signal.aborted) return;
    const { line, stack } = describeError(error);
    if (databaseFailure(error) === 'away') this.outage.failed(line);
    else this.logger.error(`Webhooks cannot be sent: ${line}`, stack);
  }
}

function destinationOf({ tenantId, endpointId, url, failingSince }: DueEndpoint): Destination {
  return { tenantId, endpointId, host: new URL(url).host, isFailing: failingSince !== null };
}
