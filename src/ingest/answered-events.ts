import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../platform/errors/error-codes';
import type { Fault } from '../platform/errors/fault';
import type { Problem } from '../review/domain/review-entry';
import type { StoredResult } from './domain/ingest-result';
import type { EventFamily } from './domain/submission';

/** The names that an answered event is counted under; undefined where they are not usable text. */
export interface AnsweredNames {
  readonly tenantId: string;
  readonly family: EventFamily;
  readonly source: string | undefined;
  readonly eventType: string | undefined;
}

/** Gets each event that was answered and left nothing in the event log. Must take microseconds, as a watcher must. */
export type OutcomeListener = (names: AnsweredNames, outcome: 'duplicate' | 'refused') => void;

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
 * Passes answered events on to features that ingest does not know. One feature listens to the duplicates and refusals of all
 * workspaces, without replays and calls of the console. Another one watches every answer of some workspaces, replays
 * included. Dry runs are never among them. While nothing is watched, a request costs one look at an empty map.
 */
@Injectable()
export class AnsweredEvents {
  private listener: OutcomeListener | undefined;
  private readonly watchers = new Map<string, AnswerWatcher>();

  /** Called once, while the application starts. */
  listen(listener: OutcomeListener): void {
    this.listener = listener;
  }

  notify(names: AnsweredNames, outcome: 'duplicate' | 'refused'): void {
    this.listener?.(names, outcome);
  }

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
