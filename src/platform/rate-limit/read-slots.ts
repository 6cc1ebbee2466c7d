import { Injectable } from '@nestjs/common';
import { ConcurrencyLimiter, type WaitOptions } from '../async/concurrency-limiter';
import { POOL_CONNECTIONS_MAX } from '../postgres/database-options';
import { DomainError } from '../errors/domain-error';
import { ClientGone } from '../errors/client-gone';
import { Metrics } from '../observability/metrics';

/** A third of the connections for requests: what three workspaces do at their worst leaves one for everybody else. */
export const READS_AT_ONCE_MAX = Math.floor(POOL_CONNECTIONS_MAX / 3);
/** As many as a console and a handful of scripts have under way; each holds a request, and nothing of an answer. */
export const READS_WAITING_MAX = 100;
/** As long as one statement may take; most clients have not given up by then. */
const WAIT_MS_MAX = 5_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Lets each workspace have a share of the connections for its reads, in this process; what comes beyond it waits for its turn,
 * and beyond a number and a time is refused. So no workspace can keep the others from reading. Each read takes one connection at a
 * time. Ingest and mutations have connections of their own and never come here (docs/adr/0039).
 */
@Injectable()
export class ReadSlots {
  private readonly limiter = new ConcurrencyLimiter({
    runningMax: () => READS_AT_ONCE_MAX,
    waitingMax: READS_WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
    refusal: (why) => (why === 'gone' ? new ClientGone() : tooManyReads()),
  });

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
  run<Result>(tenantId: string, read: () => Promise<Result>, options: WaitOptions = {}): Promise<Result> {
    return this.limiter.run(tenantId, read, options);
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

  private samples(): { labels: { state: string }; value: number }[] {
    return Object.entries(this.limiter.counts).map(([state, value]) => ({ labels: { state }, value }));
  }
}

function tooManyReads(): DomainError {
  return new DomainError(
    'unavailable',
    'Too many reads of this workspace are under way. Send the same again after the time in Retry-After, and fewer at a time.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
