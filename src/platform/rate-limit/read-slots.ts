import { Injectable } from '@nestjs/common';
import { ConcurrencyLimiter, type WaitOptions } from '../async/concurrency-limiter';
import { POOL_CONNECTIONS_MAX } from '../postgres/database-options';
import { DomainError } from '../errors/domain-error';
import { ClientGone } from '../errors/client-gone';
import { Metrics } from '../observability/metrics';

/** A third of the connections for requests: three workspaces at their limit leave one connection for the others. */
export const READS_AT_ONCE_MAX = Math.floor(POOL_CONNECTIONS_MAX / 3);
/** Enough for a console and some scripts. A waiting read holds a request, and no part of an answer. */
export const READS_WAITING_MAX = 100;
/** The limit of one statement. Most clients still wait by then. */
const WAIT_MS_MAX = 5_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the concurrent reads of each workspace in this process, so that no workspace can keep others from reading. Further
 * reads wait for a limited time, and beyond a limited number they are refused. Each read uses one connection at a time. Hot
 * paths have their own connections (docs/adr/0039).
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
        help: 'Reads of backends that are running, and reads that wait for a slot of their workspace',
        labels: ['state'],
        together: 'sum',
      },
      () => this.samples(),
    );
  }

  /**
   * Runs a read when the workspace has a free slot. Throws `unavailable` when too many wait or it has waited too long, and
   * `ClientGone` when the client has left before its turn.
   */
  run<Result>(tenantId: string, read: () => Promise<Result>, options: WaitOptions = {}): Promise<Result> {
    return this.limiter.run(tenantId, read, options);
  }

  /** Takes a slot for each step of a streamed answer, so that a slow client holds no connection. */
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
    'Too many reads of this workspace are running. Send the same again after the time in Retry-After, and fewer at a time.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
