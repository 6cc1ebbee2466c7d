import { Injectable } from '@nestjs/common';
import type { GroupCommitState, GroupCommitObserver } from './group-commit';
import { Metrics } from '../observability/metrics';
import { Tracing } from '../observability/tracing';

/** The lanes there are. */
export type GroupCommitName = 'ingest' | 'mutations' | 'review';

/** A piece alone, the usual batch of a busy second, and the most that a lane takes. */
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 400];

/** Follows the lanes of this process: how much waits, how large batches are, how long their commits take. */
@Injectable()
export class GroupCommitMetrics {
  private readonly lanes = new Map<GroupCommitName, GroupCommitState>();
  private readonly sizes;
  private readonly times;

  constructor(
    metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    const labels = ['lane'] as const;
    this.sizes = metrics.histogram(
      { name: 'cds_lane_batch_size', help: 'Pieces of work that shared a commit', labels },
      BATCH_BUCKETS,
    );
    this.times = metrics.histogram({
      name: 'cds_lane_commit_seconds',
      help: 'Time from taking a batch to its last commit, with all that was tried again',
      labels,
    });
    metrics.gauge(
      { name: 'cds_lane_depth', help: 'Pieces of work that wait for a commit', labels, together: 'sum' },
      () => this.samples(({ depth }) => depth),
    );
    metrics.gauge(
      {
        name: 'cds_lane_waiting_bytes',
        help: 'Bytes that wait for a commit or are under way to it',
        labels,
        together: 'sum',
      },
      () => this.samples(({ waitingBytes }) => waitingBytes),
    );
  }

  of(lane: GroupCommitName): GroupCommitObserver {
    const labels = { lane };
    return {
      begin: (state) => void this.lanes.set(lane, state),
      mark: () => this.tracing.current(),
      around: async (marks, run) => {
        const startedAt = performance.now();
        try {
          return await this.tracing.commit(lane, marks, run);
        } finally {
          this.sizes.observe(labels, marks.length);
          this.times.observe(labels, (performance.now() - startedAt) / 1_000);
        }
      },
    };
  }

  private samples(choose: (state: GroupCommitState) => number) {
    return [...this.lanes].map(([lane, state]) => ({ labels: { lane }, value: choose(state) }));
  }
}
