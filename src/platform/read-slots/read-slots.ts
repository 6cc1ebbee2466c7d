import { Injectable } from '@nestjs/common';
import { POOL_CONNECTIONS_MAX } from '../database/database-options';
import { DomainError } from '../errors/domain-error';
import { ClientGone } from '../http/client-gone';
import { Metrics } from '../observability/metrics';

/** A third of the connections for requests: what three workspaces do at their worst leaves one for everybody else. */
export const READS_AT_ONCE_MAX = Math.floor(POOL_CONNECTIONS_MAX / 3);
/** As many as a console and a handful of scripts have under way; each holds a request, and nothing of an answer. */
export const READS_WAITING_MAX = 100;
/** As long as one statement may take; most clients have not given up by then. */
const WAIT_MS_MAX = 5_000;
const RETRY_AFTER_SECONDS = 1;

interface ReadOptions {
  /** Whether nobody waits for the answer any more. */
  readonly isGone?: () => boolean;
  /** Waits as long as it takes: of an answer that is half out. */
  readonly isPatient?: boolean;
}

interface Waiting {
  readonly start: () => void;
  readonly isGone: () => boolean;
}

/** The reads of one workspace. */
interface Workspace {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Lets each workspace have a share of the connections for its reads, in this process; what comes beyond it waits for its turn,
 * and beyond a number and a time is refused. So no workspace can keep the others from reading. Each read takes one connection at a
 * time. Ingest and mutations have connections of their own and never come here (docs/adr/0039).
 */
@Injectable()
export class ReadSlots {
  private readonly workspaces = new Map<string, Workspace>();

  constructor(metrics: Metrics) {
    metrics.gauge(
      {
        name: 'cds_reads',
        help: 'Reads of backends that are under way, and those that wait because their workspace has its share of connections',
        labels: ['state'],
        together: 'sum',
      },
      () => this.samples(),
    );
  }

  /**
   * Runs a read when the workspace has room for it. Throws `unavailable` where too many wait, or it has waited too long, and
   * ClientGone where nobody wants the answer any more when its turn comes.
   */
  async run<Result>(tenantId: string, read: () => Promise<Result>, options: ReadOptions = {}): Promise<Result> {
    const workspace = this.workspaces.get(tenantId) ?? { running: 0, waiting: new Set() };
    this.workspaces.set(tenantId, workspace);
    if (workspace.running < READS_AT_ONCE_MAX) workspace.running += 1;
    else await this.turnOf(workspace, options);
    try {
      return await read();
    } finally {
      this.leave(tenantId, workspace);
    }
  }

  /** The same for each step of an answer that is sent while it is read: a client that reads slowly holds no connection. */
  async *each<Item>(tenantId: string, items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.run(tenantId, () => iterator.next(), { isPatient: true });
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  private turnOf({ waiting }: Workspace, { isGone = () => false, isPatient = false }: ReadOptions): Promise<void> {
    if (waiting.size >= READS_WAITING_MAX && !isPatient) throw tooManyReads();
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        waiting.delete(mine);
        reject(tooManyReads());
      };
      const timer = isPatient ? undefined : setTimeout(giveUp, WAIT_MS_MAX).unref();
      const start = (): void => {
        clearTimeout(timer);
        if (mine.isGone()) reject(new ClientGone());
        else resolve();
      };
      const mine: Waiting = { start, isGone };
      waiting.add(mine);
    });
  }

  /** Hands the place on to the first who waits and is still there. */
  private leave(tenantId: string, workspace: Workspace): void {
    for (const next of workspace.waiting) {
      workspace.waiting.delete(next);
      const goesOn = !next.isGone();
      next.start();
      if (goesOn) return;
    }
    workspace.running -= 1;
    if (workspace.running === 0) this.workspaces.delete(tenantId);
  }

  private samples(): { labels: { state: string }; value: number }[] {
    const all = [...this.workspaces.values()];
    const sum = (count: (workspace: Workspace) => number): number =>
      all.reduce((total, each) => total + count(each), 0);
    return [
      { labels: { state: 'running' }, value: sum(({ running }) => running) },
      { labels: { state: 'waiting' }, value: sum(({ waiting }) => waiting.size) },
    ];
  }
}

function tooManyReads(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many reads of this workspace are under way. Send the same again after the time in Retry-After, and fewer at a time.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
