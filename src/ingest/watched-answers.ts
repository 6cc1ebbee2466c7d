import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../platform/errors/error-codes';
import type { Fault } from '../platform/errors/fault';
import type { Problem } from '../review/domain/review-entry';
import type { StoredResult } from './domain/ingest-result';
import type { EventFamily } from './domain/submission';

/** Why an event was refused, by itself or with its whole request. */
export interface AnsweredRefusal {
  readonly status: 'error';
  readonly refusal: { readonly code: ErrorCode; readonly details: readonly Fault[] };
}

/** An event as it was answered. */
export interface WatchedAnswer {
  readonly family: EventFamily;
  /** What was sent as the event, valid or not; undefined where the body holds no event. */
  readonly value: unknown;
  readonly result: StoredResult | AnsweredRefusal;
  /** What the review area has recorded of a refusal: the problem, or the id of the entry that was replayed. */
  readonly reviewed?: (() => Problem | undefined) | { readonly entryId: string };
}

/** Must take microseconds: it is called before the answer leaves. */
export type AnswerWatcher = (answer: WatchedAnswer) => void;

/**
 * Tells one feature of every answered event of the workspaces that it watches: single, of a batch, or replayed. Dry runs are
 * not among them. While nothing is watched this costs one look at an empty map for each request.
 */
@Injectable()
export class WatchedAnswers {
  private readonly watchers = new Map<string, AnswerWatcher>();

  watch(tenantId: string, watcher: AnswerWatcher): void {
    this.watchers.set(tenantId, watcher);
  }

  unwatch(tenantId: string): void {
    this.watchers.delete(tenantId);
  }

  /** Undefined unless the workspace is watched. */
  watcherOf(tenantId: string | undefined): AnswerWatcher | undefined {
    return this.watchers.size === 0 || tenantId === undefined ? undefined : this.watchers.get(tenantId);
  }
}
