import { setMaxListeners } from 'node:events';
import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { SETTINGS_TOKEN, type Settings } from '../../platform/config/settings';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../../platform/postgres/connection-settings';
import { databaseFailure } from '../../platform/postgres/database-errors';
import { CrossWorkspaceReads } from '../../platform/postgres/distribution/cross-workspace-reads';
import { PipelinedConnection } from '../../platform/postgres/pipelined-connection';
import { PersonalProperties } from '../../platform/privacy/personal-properties';
import { SecretBox } from '../../platform/secrets/secret-box';
import { Clock } from '../../platform/values/clock';
import { randomId } from '../../platform/values/ids';
import { NIL_UUID } from '../../platform/values/uuid';
import { ATTEMPT_MS_MAX } from '../domain/webhook';
import { ChangeRelay } from './change-relay';
import { DeliveryMetrics } from './delivery-metrics';
import type { ClaimedDelivery, EndpointKey } from './claimed-delivery';
import { CLAIM_MS, DeliveryClaims } from './delivery-claims';
import type { DeliveryResult } from './delivery-result';
import { DeliveryResultStore } from './delivery-result-store';
import { DeliverySender } from './delivery-sender';
import { DeliverySignal } from './delivery-signal';
import { DeliverySlots, SLOTS } from './delivery-slots';
import { DueEndpoints } from './due-endpoints';
import { WorkspaceTransactions } from './workspace-transactions';

/**
 * Deliveries that are announced within so long are claimed together, and results of calls stored together. Otherwise
 * each of them costs a transaction.
 */
const TOGETHER_MS = 10;
/** So many results are stored at once: their endpoints may have no slot for a further call until then. */
const RESULTS_AT_ONCE = 16;
/** Changes that other processes stored are looked for so often. */
const CHANGES_POLL_MS = 300;
/** Results whose queues others have locked are tried again so often. */
const LOCKED_POLL_MS = 50;
const RECONNECT_MS = 500;
const LOCK_TIMEOUT_MS = 500;
const STATEMENT_TIMEOUT_MS = 5_000;

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
  private readonly transactions: WorkspaceTransactions;
  /** A workspace whose changes rest still gets its calls. */
  private readonly relayTransactions: WorkspaceTransactions;
  private readonly sender: DeliverySender;
  private readonly slots = new DeliverySlots();
  private readonly due = new DueEndpoints();
  private readonly stopped = new AbortController();
  private readonly running = new Set<Promise<void>>();
  /** Results that are not stored yet. */
  private results: DeliveryResult[] = [];
  /** The workspace behind which changes are looked for. */
  private changesAfter: string = NIL_UUID;
  /** When they are looked for again, by the monotonic clock. */
  private changesDueAt = 0;
  /** They rest until then, by the same clock. */
  private changesRestUntil = 0;
  private waking: NodeJS.Timeout | undefined;
  private wake: () => void = () => undefined;
  private isAwake = false;
  private working: Promise<void> | undefined;

  constructor(
    private readonly claims: DeliveryClaims,
    private readonly resultStore: DeliveryResultStore,
    private readonly changes: ChangeRelay,
    private readonly signal: DeliverySignal,
    metrics: DeliveryMetrics,
    box: SecretBox,
    personal: PersonalProperties,
    private readonly clock: Clock,
    private readonly crossWorkspace: CrossWorkspaceReads,
    @Inject(SETTINGS_TOKEN) settings: Settings,
    @Inject(CONNECTION_SETTINGS) connectionSettings: ConnectionSettings,
  ) {
    this.connection = new PipelinedConnection(connectionSettings, {
      applicationName: 'cds-webhooks',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
    const context = {
      connection: this.connection,
      settings: connectionSettings,
      isAway: (tenantId: string) => crossWorkspace.isAway(tenantId),
      failed: (error: unknown) => this.failed(error),
    };
    this.transactions = new WorkspaceTransactions(context);
    this.relayTransactions = new WorkspaceTransactions(context);
    // Each call listens.
    setMaxListeners(SLOTS.inAll, this.stopped.signal);
    this.sender = new DeliverySender({ metrics, box, personal, clock, settings, stop: this.stopped.signal });
  }

  /** Starts sending. A process with `ROLE=api` does not call it. */
  start(): void {
    if (this.working !== undefined) return;
    this.signal.listen((endpoints) => {
      this.due.announce(endpoints);
      this.wakeSoon();
    });
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
    await Promise.all([this.connection.close(), this.sender.close()]);
  }

  private async work(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      try {
        await this.storeResults();
        const isMore = await this.relayChanges();
        const claimed = await this.claimSome();
        this.outage.succeeded();
        if (claimed === 0 && !isMore) await this.pause(this.idleMs());
      } catch (error) {
        this.failed(error);
        await this.pause(RECONNECT_MS);
      }
    }
    await Promise.all(this.running);
    await this.storeResults().catch((error: unknown) => this.failed(error));
  }

  /** Stores what calls have brought. What cannot be stored now, or whose queues others have locked, is kept for the next time. */
  private storeResults(): Promise<void> {
    const due = (endpoints: readonly EndpointKey[]): void => this.due.announce(endpoints);
    const keep = (results: readonly DeliveryResult[]): void => void this.results.unshift(...results);
    return this.transactions.run({
      items: this.results.splice(0),
      tenantOf: ({ delivery }) => delivery.tenantId,
      run: (open, results) => this.resultStore.store(open, results, this.clock.now(), due),
      done: keep,
      left: keep,
    });
  }

  /** Adds deliveries for changes of values. Returns whether there may be more. */
  private async relayChanges(): Promise<boolean> {
    const now = performance.now();
    if (this.changesWaitMs(now) > 0) return false;
    this.signal.takeChanges();
    const { after, isMore } = await this.changes.run(this.connection, this.relayTransactions, this.changesAfter);
    this.changesAfter = after;
    this.changesDueAt = isMore ? 0 : now + CHANGES_POLL_MS;
    const endedAt = performance.now();
    // Claims and results of all workspaces get half of the time, however many changes of one wait.
    this.changesRestUntil = endedAt + (endedAt - now);
    return isMore;
  }

  private changesWaitMs(now: number): number {
    const dueAt = this.signal.hasChanges ? 0 : this.changesDueAt;
    return Math.max(0, dueAt - now, this.changesRestUntil - now);
  }

  /** Claims deliveries for which there are slots, and begins their calls. Returns how many queues it claimed. */
  private async claimSome(): Promise<number> {
    await this.due.poll(this.crossWorkspace, this.connection, performance.now());
    const shares = this.due.share(this.slots, (tenantId) => this.transactions.isHeldUp(tenantId));
    if (shares.length === 0) return 0;
    this.due.beginClaim(shares);
    const startsBefore = performance.now() + CLAIM_MS - ATTEMPT_MS_MAX - STATEMENT_TIMEOUT_MS;
    let claimed = 0;
    await this.transactions.run({
      items: shares,
      tenantOf: ({ endpoint }) => endpoint.tenantId,
      run: (open, items) => this.claims.claim(open, items, randomId()),
      done: ({ deliveries, claimedOf }, items) => {
        this.due.endClaim(items, claimedOf);
        for (const delivery of deliveries) this.run(delivery, startsBefore);
        claimed += claimedOf.size;
      },
      // A poll finds them again.
      left: () => undefined,
    });
    return claimed;
  }

  /** `startsBefore`: by the monotonic clock; a call that begins later could outlast the claim. */
  private run(delivery: ClaimedDelivery, startsBefore: number): void {
    const destination = this.due.remember(delivery.endpoint);
    this.slots.take(destination);
    const running = this.sender
      .send(delivery, startsBefore)
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
        if (this.results.length < RESULTS_AT_ONCE) this.wakeSoon();
        else this.wakeUp();
      });
    this.running.add(running);
  }

  /** Until there is something to look for. */
  private idleMs(): number {
    const now = performance.now();
    const lockedMs = this.results.length > 0 ? LOCKED_POLL_MS : Infinity;
    return Math.min(this.due.untilPoll(now), this.changesWaitMs(now), lockedMs);
  }

  /** Wakes the loop once for all that is announced and all calls that end now. */
  private wakeSoon(): void {
    this.waking ??= setTimeout(() => {
      this.waking = undefined;
      this.wakeUp();
    }, TOGETHER_MS);
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
