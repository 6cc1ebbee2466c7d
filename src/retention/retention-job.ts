import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { EventExpiry, type ExpiryOutcome } from '../ingest/expiry/event-expiry';
import { handleInSteps } from '../platform/jobs/in-steps';
import { Jobs } from '../platform/jobs/jobs';
import { Metrics } from '../platform/observability/metrics';
import { databaseFailure, QUERY_CANCELED, sqlStateOf } from '../platform/postgres/database-errors';
import { LogCounter } from '../statistics/log-counter';
import { restAfter } from './domain/rest';
import { RetentionRepository, type RetentionProgress, type RetentionTurn } from './retention.repository';

export const RETENTION_JOB = 'event-retention';
const EVERY_HOUR = '47 * * * *';
/** From the end of a pass. The job looks each hour, and finds a workspace due each time whose pass took up to 40 minutes. */
const PASS_EVERY_SECONDS = 20 * 60;
/** After a step that met a lock of somebody else, or took too long. */
const RETRY_SECONDS = 5;
/** Where a due step cannot be taken, because somebody changes its rule. */
const LOOK_AGAIN_SECONDS_MIN = 1;

/**
 * Removes the events that workspaces no longer keep, in small steps and in turns of the workspaces (contract section 11). Any
 * number of nodes may do it at once; a step that was killed is done again.
 */
@Injectable()
export class RetentionJob implements OnModuleInit {
  private readonly expired;

  constructor(
    private readonly database: DataSource,
    private readonly rules: RetentionRepository,
    private readonly events: EventExpiry,
    private readonly statistics: LogCounter,
    private readonly jobs: Jobs,
    metrics: Metrics,
  ) {
    this.expired = metrics.counter({
      name: 'cds_expired_events_total',
      help: 'Events that this process removed because their retention had ended',
    });
    metrics.gauge(
      {
        name: 'cds_retention_behind_seconds',
        help: 'Time by which the removal of old events is behind, in the workspace where it is longest',
        together: 'max',
      },
      async () => {
        const seconds = await this.rules.secondsBehind();
        return seconds === null ? [] : [{ labels: {}, value: Math.max(0, seconds) }];
      },
    );
  }

  onModuleInit(): void {
    const { manager } = this.database;
    handleInSteps(this.jobs, manager, { name: RETENTION_JOB, cron: EVERY_HOUR, step: () => this.step() });
  }

  /** One step of the workspace whose turn it is; returns whether there was one. */
  async step(): Promise<boolean> {
    const turn = await this.rules.takeTurn();
    if (turn === undefined) {
      await this.addNext();
      return false;
    }
    const began = performance.now();
    const result = await this.expire(turn);
    if (result.outcome === 'done') this.expired.inc(result.expired);
    await this.rules.endTurn(turn, progressOf(turn, result));
    if (result.outcome === 'done' && result.isIngesting) {
      await wait(restAfter(performance.now() - began, turn.secondsBehind));
    }
    return true;
  }

  /**
   * Looks again when a step is due that another process works on, or that is to be repeated. Otherwise nobody would before the
   * next full pass, after an error or the end of a process.
   */
  private async addNext(): Promise<void> {
    const seconds = await this.rules.secondsToTurn();
    if (seconds === undefined) return;
    const delayMs = Math.max(LOOK_AGAIN_SECONDS_MIN, seconds) * 1_000;
    await this.jobs.add(this.database.manager, RETENTION_JOB, {}, { key: 'retry', delayMs });
  }

  private async expire(turn: RetentionTurn): Promise<ExpiryOutcome> {
    const { tenantId, position: after, before } = turn;
    try {
      // What is not counted would be missing from the statistics for ever.
      if (!(await this.statistics.countUpTo(tenantId, before))) return { outcome: 'busy' };
      return await this.events.step({ tenantId, after, before, holdRule: (open) => this.rules.hold(open, turn) });
    } catch (error) {
      // After a statement that took longer than its limit the next step is a smaller one.
      if (databaseFailure(error) !== 'contended' && sqlStateOf(error) !== QUERY_CANCELED) throw error;
      return { outcome: 'busy' };
    }
  }
}

function progressOf({ position, before }: RetentionTurn, result: ExpiryOutcome): RetentionProgress {
  if (result.outcome !== 'done') return { position, expiredBefore: null, nextInSeconds: RETRY_SECONDS };
  const { isMore, last } = result;
  if (isMore && last !== undefined) return { position: last, expiredBefore: last.receivedAt, nextInSeconds: 0 };
  return { position: null, expiredBefore: before, nextInSeconds: PASS_EVERY_SECONDS };
}
