import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Principal } from '../../platform/auth/principal';
import { DomainError } from '../../platform/errors/domain-error';
import { rangeFault } from '../../platform/errors/fault-words';
import { validationFailed } from '../../platform/errors/validation-failed';
import { LostJobs } from '../../platform/jobs/lost-jobs';
import { assertMayRunMore } from '../../platform/jobs/unfinished-limit';
import { idPage, idPageStart } from '../../platform/pagination/id-key';
import type { Page } from '../../platform/pagination/page';
import { receiptEnd } from '../../processing/event-window';
import { newId } from '../../platform/values/ids';
import { isUuid, NIL_UUID } from '../../platform/values/uuid';
import { WebhookReplay } from '../entities/webhook-replay.entity';
import type { Webhook } from '../webhook.repository';
import { WebhooksService } from '../webhooks.service';
import { NOTHING_REPLAYED, REPLAY_DAYS_MAX, rulesHash } from './domain/webhook-replay';
import { WEBHOOK_REPLAY_JOB, WebhookReplayJob } from './webhook-replay-job';
import type { WebhookReplayKey } from './webhook-replay-progress';
import { WebhookReplayRepository } from './webhook-replay.repository';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Times of receipt in epoch milliseconds; `to` is not part of the range. */
export interface WebhookReplayRange {
  readonly from: number;
  readonly to: number;
}

/** Starts, shows and cancels replays of events to webhooks (contract section 15). */
@Injectable()
export class WebhookReplaysService implements OnModuleInit {
  constructor(
    private readonly database: DataSource,
    private readonly replays: WebhookReplayRepository,
    private readonly webhooks: WebhooksService,
    private readonly job: WebhookReplayJob,
    private readonly lostJobs: LostJobs,
  ) {}

  onModuleInit(): void {
    this.lostJobs.watch({
      job: WEBHOOK_REPLAY_JOB,
      entity: WebhookReplay,
      add: (manager, replay) => this.job.add(manager, replay),
    });
  }

  /**
   * Starts a replay of the events received from `from` to before `to`, or to the last one. Throws `not_found`, `replay_running`,
   * or `validation_failed` for a range over 366 days, or when the workspace runs too many.
   */
  async start({ tenantId, credentialId }: Principal, endpointId: string, range: WebhookReplayRange): Promise<string> {
    if (range.from >= range.to) throw validationFailed([rangeFault('to', 'later than from')]);
    return this.database.transaction(async (manager) => {
      const running = await this.replays.lockRunning(manager, tenantId);
      // Behind the lock, so that it is not deleted meanwhile.
      const webhook = await this.webhooks.get(tenantId, endpointId, manager);
      assertMayReplay(running, webhook.endpoint.id);
      const replay = newReplay(webhook, range, await receiptEnd(manager, tenantId), credentialId);
      if (replay.receivedTo.getTime() - replay.receivedFrom.getTime() > REPLAY_DAYS_MAX * DAY_MS) {
        throw validationFailed([rangeFault('to', `at most ${REPLAY_DAYS_MAX} days after from`)]);
      }
      await this.replays.create(manager, replay);
      await this.job.add(manager, replay);
      return replay.id;
    });
  }

  /** Throws `not_found`. */
  async get(key: WebhookReplayKey): Promise<WebhookReplay> {
    const { endpoint } = await this.webhooks.get(key.tenantId, key.endpointId);
    const replay = isUuid(key.id) ? await this.replays.find({ ...key, endpointId: endpoint.id }) : null;
    if (replay === null) throw new DomainError('not_found', 'The webhook has no replay with this id.');
    return replay;
  }

  /** Newest first. Throws `not_found`. */
  async list(
    tenantId: string,
    endpointId: string,
    cursor: string | undefined,
    limit: number,
  ): Promise<Page<WebhookReplay>> {
    const { endpoint } = await this.webhooks.get(tenantId, endpointId);
    return idPage(await this.replays.list(tenantId, endpoint.id, idPageStart(cursor), limit), limit);
  }

  /** Ends a replay; what it has queued is delivered. One that is over stays as it is. Throws `not_found`. */
  async cancel(key: WebhookReplayKey): Promise<WebhookReplay> {
    await this.replays.cancel(await this.get(key));
    return this.get(key);
  }
}

function assertMayReplay(running: readonly WebhookReplay[], endpointId: string): void {
  if (running.some((each) => each.endpointId === endpointId)) {
    throw new DomainError(
      'replay_running',
      'A replay of this webhook is running. Wait until it is over, or cancel it.',
    );
  }
  assertMayRunMore(running.length, 'replays of webhooks');
}

function newReplay(
  { endpoint, rules }: Webhook,
  range: WebhookReplayRange,
  { now, end }: { readonly now: Date; readonly end: Date },
  by: string,
): WebhookReplay {
  const receivedFrom = new Date(range.from);
  const hash = rulesHash(rules.filter((rule) => 'eventType' in rule));
  return {
    tenantId: endpoint.tenantId,
    endpointId: endpoint.id,
    id: newId(),
    rulesHash: hash,
    receivedFrom,
    // Later events are the business of workers. A range in the future is empty.
    receivedTo: new Date(Math.max(range.from, Math.min(range.to, end.getTime()))),
    state: 'queued',
    reason: null,
    phase: 'survey',
    attempts: 0,
    total: 0,
    ...NOTHING_REPLAYED,
    cursorReceivedAt: receivedFrom,
    // The first step sets the cursor before the first event.
    cursorOccurredAt: receivedFrom,
    cursorEventId: NIL_UUID,
    requestedAt: now,
    requestedBy: by,
    startedAt: null,
    finishedAt: null,
  };
}
