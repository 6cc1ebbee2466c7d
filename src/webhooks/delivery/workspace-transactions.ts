import { transactionShares, type TransactionShare } from '../../platform/postgres/by-workspace';
import type { ConnectionSettings } from '../../platform/postgres/connection-settings';
import { databaseFailure, QUERY_CANCELED, sqlStateOf } from '../../platform/postgres/database-errors';
import type { OfWorkspace, PipelinedConnection, Transaction } from '../../platform/postgres/pipelined-connection';

/** A workspace whose transaction failed rests so many times as long as that took: the others get the rest of the time. */
const REST_FACTOR = 9;
const REST_MS_MIN = 500;
const REST_MS_MAX = 10_000;
/** Transactions are begun for so long; what is behind waits for the next work. */
const WORK_MS_MAX = 5_000;

const EACH_APART = { isOneWorkspace: true };

/** Work on items of several workspaces. */
interface SharedWork<Item, Result> {
  readonly items: readonly Item[];
  readonly tenantOf: (item: Item) => string;
  /** Whether each workspace gets its own transaction from the start. */
  readonly isApart?: boolean;
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
    const settings = work.isApart === true ? EACH_APART : this.context.settings;
    await this.runShares(work, transactionShares(settings, items, work.tenantOf), failures);
    if (failures.length > 0) throw failures[0];
  }

  private async runShares<Item, Result>(
    work: SharedWork<Item, Result>,
    shares: readonly TransactionShare<Item>[],
    failures: unknown[],
  ): Promise<void> {
    const endsAt = performance.now() + WORK_MS_MAX;
    for (const { items, of } of shares) {
      const begunAt = performance.now();
      if (begunAt > endsAt) {
        work.left(items);
        continue;
      }
      const failure = await this.attempt(work, items, of);
      if (failure === undefined) continue;
      const { error } = failure;
      const tenantIds = new Set(items.map((item) => work.tenantOf(item)));
      if (isAboutAll(error)) {
        work.left(items);
        failures.push(error);
      } else if (tenantIds.size > 1) {
        await this.runShares(work, transactionShares(EACH_APART, items, work.tenantOf), failures);
      } else {
        work.left(items);
        this.rest(tenantIds, error, begunAt);
      }
    }
  }

  private rest(tenantIds: ReadonlySet<string>, error: unknown, begunAt: number): void {
    this.context.failed(error);
    // What only lost a race is tried again with the next work.
    if (databaseFailure(error) === 'repeat') return;
    const now = performance.now();
    const restMs = Math.min(REST_MS_MAX, Math.max(REST_MS_MIN, REST_FACTOR * (now - begunAt)));
    for (const tenantId of tenantIds) this.restsUntil.set(tenantId, now + restMs);
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
