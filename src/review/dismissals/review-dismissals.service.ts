import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { DomainError } from '../../platform/errors/domain-error';
import { Jobs, type JobPayload } from '../../platform/jobs/jobs';
import { LostJobs } from '../../platform/jobs/lost-jobs';
import { UnfinishedLimit } from '../../platform/jobs/unfinished-limit';
import { Clock } from '../../platform/values/clock';
import { newId } from '../../platform/values/ids';
import { isUuid, NIL_UUID } from '../../platform/values/uuid';
import type { SingleStatusFilter } from '../domain/review-filter';
import { ReviewReader } from '../review-reader';
import { ReviewDismissal } from './entities/review-dismissal.entity';
import { ReviewDismissalRepository } from './review-dismissal.repository';

const DISMISSAL_JOB = 'review-dismissal';
/** Entries that one transaction looks at: few enough that it holds their locks for milliseconds. */
const STEP_ENTRIES = 1_000;

/**
 * Starts, runs, shows and cancels bulk dismissals (contract section 7). The job looks at all entries of the workspace
 * by id, a step for each job, so that workspaces take turns. A step is one transaction: a killed process repeats it as
 * a whole.
 */
@Injectable()
export class ReviewDismissalsService implements OnModuleInit {
  private readonly limit: UnfinishedLimit<ReviewDismissal>;

  constructor(
    private readonly database: DataSource,
    private readonly entries: ReviewReader,
    private readonly dismissals: ReviewDismissalRepository,
    private readonly jobs: Jobs,
    private readonly lostJobs: LostJobs,
    private readonly clock: Clock,
  ) {
    this.limit = new UnfinishedLimit(database.manager, ReviewDismissal, 'bulk dismissals');
  }

  onModuleInit(): void {
    const giveUp = ({ tenantId = '', id = '' }: JobPayload): Promise<void> =>
      this.dismissals.end(this.database.manager, { tenantId, id }, 'failed', this.clock.now());
    this.jobs.handle(DISMISSAL_JOB, (payload) => this.work(payload), { giveUp });
    this.lostJobs.watch({
      job: DISMISSAL_JOB,
      entity: ReviewDismissal,
      add: (manager, dismissal) => this.addJob(manager, dismissal),
    });
  }

  /**
   * Returns the id of the dismissal. `by`: the id of the credential. Throws `validation_failed` when the workspace runs too
   * many.
   */
  start(tenantId: string, by: string, filter: SingleStatusFilter, note: string | null): Promise<string> {
    return this.limit.start(tenantId, () => this.create(tenantId, by, filter, note));
  }

  /** Throws `not_found`. */
  async get(tenantId: string, id: string): Promise<ReviewDismissal> {
    const found = isUuid(id) ? await this.dismissals.find(tenantId, id) : null;
    if (found === null) throw new DomainError('not_found', 'There is no dismissal with this id in this workspace.');
    return found;
  }

  /** Ends a dismissal after the step that is under way; has no effect on one that has finished. Throws `not_found`. */
  async cancel(tenantId: string, id: string): Promise<ReviewDismissal> {
    await this.get(tenantId, id);
    await this.dismissals.cancel(tenantId, id, this.clock.now());
    return this.get(tenantId, id);
  }

  private async create(tenantId: string, by: string, filter: SingleStatusFilter, note: string | null): Promise<string> {
    const createdAt = this.clock.now();
    const total = await this.entries.count(tenantId, filter);
    const isEmpty = total === 0;
    const dismissal: ReviewDismissal = {
      tenantId,
      id: newId(),
      filter,
      note,
      state: isEmpty ? 'done' : 'queued',
      total,
      dismissed: 0,
      position: NIL_UUID,
      createdAt,
      createdBy: by,
      finishedAt: isEmpty ? createdAt : null,
    };
    await this.database.transaction(async (manager) => {
      await this.dismissals.create(manager, dismissal);
      if (!isEmpty) await this.addJob(manager, dismissal);
    });
    return dismissal.id;
  }

  private async work({ tenantId = '', id = '' }: JobPayload): Promise<void> {
    await this.database.transaction((manager) => this.step(manager, tenantId, id));
  }

  private async step(manager: EntityManager, tenantId: string, id: string): Promise<void> {
    const dismissal = await this.dismissals.hold(manager, tenantId, id);
    if (dismissal === null) return;
    const { filter, note, createdBy: by } = dismissal;
    const at = this.clock.now();
    const noted = note === null ? {} : { note };
    const resolution = { action: 'dismissed', at: at.toISOString(), by, jobId: id, ...noted } as const;
    const page = { after: dismissal.position, limit: STEP_ENTRIES, seenBy: dismissal.createdAt };
    const { last, dismissed } = await this.dismissals.dismiss(manager, tenantId, filter, page, resolution);
    if (last === undefined) return this.dismissals.end(manager, dismissal, 'done', at);
    await this.dismissals.advance(manager, dismissal, last, dismissed);
    return this.addJob(manager, dismissal);
  }

  private addJob(manager: EntityManager, { tenantId, id }: ReviewDismissal): Promise<void> {
    return this.jobs.add(manager, DISMISSAL_JOB, { tenantId, id }, { key: `${tenantId}/${id}` });
  }
}
