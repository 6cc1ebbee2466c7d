import { transactionShares } from '../../platform/postgres/by-workspace';
import type { ConnectionSettings } from '../../platform/postgres/connection-settings';
import { databaseFailure, QUERY_CANCELED, sqlStateOf } from '../../platform/postgres/database-errors';
import type { OfWorkspace, PipelinedConnection, Transaction } from '../../platform/postgres/pipelined-connection';

/** A workspace whose transaction failed rests so many times as long as that took: the others get the rest of the time. */
const REST_FACTOR = 9;
const REST_MS_MIN = 500;
const REST_MS_MAX = 10_000;
/** Workspaces are tried apart for so long; those behind wait for the next work. */
const APART_MS_MAX = 5_000;

/** Work on items of several workspaces. */
interface SharedWork<Item, Result> {
  readonly items: readonly Item[];
  readonly tenantOf: (item: Item) => string;
  readonly run: (transaction: Transaction, items: readonly Item[]) => Promise<Result>;
  /** Gets what `run` returned, when it is committed. */
  readonly done: (result: Result, items: readonly Item[]) => void;
  /** Gets the items that could not be worked on now. */
  readonly left: (items: readonly Item[]) => void;
}

export interface WorkspaceTransactionsContext {
  readonly connection: Pick<PipelinedConnection, 'transaction'>;
  readonly settings: Pick<ConnectionSettings, 'isOneWorkspace'>;
  /** Whether the node of a workspace does not answer. */
  readonly isAway: (tenantId: string) => boolean;
  /** Gets the error of a workspace that rests. */
  readonly failed: (error: unknown) => void;
}

/**
 * Runs one transaction for all workspaces, because each transaction costs a commit. If it fails, it is repeated with a
 * transaction for each workspace. One that fails by itself rests for a while: a lock that is held for long, or a row that
 * cannot be stored, holds up its own workspace only.
 */
export class WorkspaceTransactions {
  /** Until when workspaces rest, by the monotonic clock. */
  private readonly restsUntil = new Map<string, number>();

  constructor(private readonly context: WorkspaceTransactionsContext) {}

  /** Whether nothing can be done for a workspace now. */
  isHeldUp(tenantId: string): boolean {
    return this.context.isAway(tenantId) || this.restsUntil.has(tenantId);
  }

  /** Throws if the database is away, when it has tried all. */
  async run<Item, Result>(work: SharedWork<Item, Result>): Promise<void> {
    this.endRests();
    const isReady = (item: Item): boolean => !this.isHeldUp(work.tenantOf(item));
    const items = work.items.filter(isReady);
    if (items.length < work.items.length) work.left(work.items.filter((item) => !isReady(item)));
    const failures: unknown[] = [];
    for (const { items: shared, of } of transactionShares(this.context.settings, items, work.tenantOf)) {
      const begunAt = performance.now();
      const failure = await this.attempt(work, shared, of);
      if (failure === undefined) continue;
      if (isAboutAll(failure.error)) {
        work.left(shared);
        failures.push(failure.error);
      } else await this.keepApart(work, shared, failure.error, begunAt);
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Goes on with each workspace by itself where the transaction of all of them has failed. */
  private async keepApart<Item, Result>(
    work: SharedWork<Item, Result>,
    items: readonly Item[],
    error: unknown,
    begunAt: number,
  ): Promise<void> {
    const shares = transactionShares({ isOneWorkspace: true }, items, work.tenantOf);
    const [only, ...others] = shares;
    if (only !== undefined && others.length === 0) {
      work.left(items);
      this.rest(only.of, error, begunAt);
      return;
    }
    const endsAt = performance.now() + APART_MS_MAX;
    for (const { items: own, of } of shares) {
      const startedAt = performance.now();
      const failure = startedAt < endsAt ? await this.attempt(work, own, of) : 'later';
      if (failure === undefined) continue;
      work.left(own);
      if (failure !== 'later') this.rest(of, failure.error, startedAt);
    }
  }

  private rest(of: readonly OfWorkspace[], error: unknown, begunAt: number): void {
    this.context.failed(error);
    // What only lost a race is tried again with the next work.
    if (databaseFailure(error) === 'repeat') return;
    const now = performance.now();
    const restMs = Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, REST_FACTOR * (now - begunAt)));
    for (const { tenantId } of of) this.restsUntil.set(tenantId, now + restMs);
  }

  /** Returns why it failed. */
  private async attempt<Item, Result>(
    { run, done }: SharedWork<Item, Result>,
    items: readonly Item[],
    of: readonly OfWorkspace[],
  ): Promise<{ readonly error: unknown } | undefined> {
    try {
      const result = await this.context.connection.transaction((transaction) => run(transaction, items), of);
      done(result, items);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  private endRests(): void {
    const now = performance.now();
    for (const [tenantId, until] of this.restsUntil) if (until <= now) this.restsUntil.delete(tenantId);
  }
}

/** Whether all workspaces are concerned. A statement that took too long may be that of one. */
function isAboutAll(error: unknown): boolean {
  return databaseFailure(error) === 'away' && sqlStateOf(error) !== QUERY_CANCELED;
}
