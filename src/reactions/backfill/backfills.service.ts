import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Principal } from '../../platform/auth/principal';
import { grants } from '../../platform/auth/scopes';
import { DomainError } from '../../platform/errors/domain-error';
import { LostJobs } from '../../platform/jobs/lost-jobs';
import { assertMayRunMore } from '../../platform/jobs/unfinished-limit';
import { idPage, idPageStart } from '../../platform/pagination/id-key';
import type { Page } from '../../platform/pagination/page';
import type { TimeRange } from '../../platform/pagination/time-range';
import { newId } from '../../platform/values/ids';
import { isUuid, NIL_UUID } from '../../platform/values/uuid';
import { receiptEnd } from '../../processing/event-window';
import type { Reaction } from '../entities/reaction.entity';
import { ReactionsService } from '../reactions.service';
import { BACKFILL_JOB, BackfillJob } from './backfill-job';
import type { BackfillKey } from './backfill-progress';
import { BackfillRepository } from './backfill.repository';
import { NO_COUNTS, setsValues } from './domain/backfill';
import { ReactionBackfill } from './entities/reaction-backfill.entity';

export interface BackfillRequest extends Required<{ readonly [End in keyof TimeRange]: number }> {
  readonly isDryRun: boolean;
  readonly eventsPerSecondMax: number | null;
}

/** Starts, shows and cancels backfills (contract section 14). */
@Injectable()
export class BackfillsService implements OnModuleInit {
  constructor(
    private readonly backfills: BackfillRepository,
    private readonly reactions: ReactionsService,
    private readonly job: BackfillJob,
    private readonly lostJobs: LostJobs,
  ) {}

  onModuleInit(): void {
    this.lostJobs.watch({
      job: BACKFILL_JOB,
      entity: ReactionBackfill,
      add: (manager, backfill) => this.job.add(manager, backfill, backfill.eventsPerSecondMax),
    });
  }

  /**
   * Starts a backfill of the events received from `from` to before `to`, or to the last one. Throws `not_found`,
   * `reaction_disabled`, `backfill_running`, `validation_failed` when the workspace runs too many, or `insufficient_scope` for a
   * dry run of a reaction that reads personal data without `pii:read`.
   */
  async start(caller: Principal, campaignId: string, name: string, request: BackfillRequest): Promise<string> {
    const { tenantId, credentialId } = caller;
    // What a dry run of one event adds up is a value of that event.
    if (request.isDryRun) {
      await this.reactions.assertMayTest(caller, await this.reactions.get(tenantId, campaignId, name));
    }
    return this.reactions.changeOne(tenantId, campaignId, name, async (manager, reaction) => {
      if (!reaction.enabled) throw new DomainError('reaction_disabled', 'The reaction is switched off.');
      const running = await this.backfills.running(manager, tenantId);
      assertMayStart(running, reaction);
      const backfill = newBackfill(reaction, request, await receiptEnd(manager, tenantId), credentialId);
      await this.backfills.create(manager, backfill);
      if (backfill.setsValues && !backfill.isDryRun) {
        await this.backfills.report(manager, backfill, backfill.id);
      }
      await this.job.add(manager, backfill, backfill.eventsPerSecondMax);
      return backfill.id;
    });
  }

  /**
   * Of which backfills of a reaction the caller may see what a dry run has added up: the sum over one event is a value of that
   * event.
   */
  async shownSums(
    { tenantId, scopes }: Principal,
    { campaignId, name }: Pick<Reaction, 'campaignId' | 'name'>,
  ): Promise<(backfill: ReactionBackfill) => boolean> {
    if (grants(scopes, 'pii:read')) return () => true;
    const reaction = await this.reactions.find(tenantId, campaignId, name);
    if (reaction === null || (await this.reactions.readsPersonal(reaction))) return () => false;
    const { id, updatedAt } = reaction;
    return (backfill) => backfill.reactionId === id && backfill.reactionUpdatedAt.getTime() === updatedAt.getTime();
  }

  /** Throws `not_found`. */
  async get(key: BackfillKey): Promise<ReactionBackfill> {
    const backfill = isUuid(key.id) ? await this.backfills.find(key) : null;
    if (backfill === null) throw new DomainError('not_found', 'The reaction has no backfill with this id.');
    return backfill;
  }

  /** Newest first; also those of an earlier reaction of this name. Throws `not_found`. */
  async list(
    tenantId: string,
    reaction: { readonly campaignId: string; readonly name: string },
    cursor: string | undefined,
    limit: number,
  ): Promise<Page<ReactionBackfill>> {
    await this.reactions.get(tenantId, reaction.campaignId, reaction.name);
    const rows = await this.backfills.list({ tenantId, ...reaction }, idPageStart(cursor), limit);
    return idPage(rows, limit);
  }

  /** Ends a backfill; what it has done stays. One that is over stays as it is. Throws `not_found`. */
  async cancel(key: BackfillKey): Promise<ReactionBackfill> {
    await this.get(key);
    await this.reactions.change(key.tenantId, (manager) => this.backfills.cancel(manager, key));
    return this.get(key);
  }
}

function assertMayStart(running: readonly ReactionBackfill[], { campaignId, name }: Reaction): void {
  if (running.some((each) => each.campaignId === campaignId && each.name === name)) {
    throw new DomainError(
      'backfill_running',
      'A backfill of this reaction is running. Wait until it is over, or cancel it.',
    );
  }
  assertMayRunMore(running.length, 'backfills');
}

function newBackfill(
  reaction: Reaction,
  request: BackfillRequest,
  { now, end }: { readonly now: Date; readonly end: Date },
  by: string,
): ReactionBackfill {
  const { tenantId, campaignId, name, eventType, source, operations } = reaction;
  const { isDryRun, eventsPerSecondMax } = request;
  const receivedFrom = new Date(request.from);
  return {
    tenantId,
    campaignId,
    name,
    id: newId(),
    eventType,
    source,
    isDryRun,
    eventsPerSecondMax,
    reactionId: reaction.id,
    reactionUpdatedAt: reaction.updatedAt,
    setsValues: setsValues(operations),
    receivedFrom,
    // Later events are the business of workers. A range in the future is empty.
    receivedTo: new Date(Math.max(request.from, Math.min(request.to, end.getTime()))),
    state: 'queued',
    reason: null,
    phase: 'survey',
    attempts: 0,
    total: 0,
    ...NO_COUNTS,
    sums: [],
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
