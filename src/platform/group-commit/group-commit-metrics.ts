import { Injectable } from '@nestjs/common';
import type { GroupCommitState, GroupCommitObserver } from './group-commit';
import { Metrics } from '../observability/metrics';
import { Tracing } from '../observability/tracing';

/** From a single piece of work to the largest batch that a group commit takes. */
const BATCH_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 400];

/** Measures the group commits of this process: how much waits, how large batches are, how long their commits take. */
@Injectable()
export class GroupCommitMetrics {
  /** Several of one name are those of the nodes of a distributed database. */
  private readonly groupCommits = new Map<string, GroupCommitState[]>();
  private readonly sizes;
  private readonly times;

  constructor(
    metrics: Metrics,
    private readonly tracing: Tracing,
  ) {
    // Dashboards know the label and the metrics by these names.
    const labels = ['lane'] as const;
    this.sizes = metrics.histogram(
      { name: 'cds_lane_batch_size', help: 'Pieces of work that shared a commit', labels },
      BATCH_BUCKETS,
    );
    this.times = metrics.histogram({
      name: 'cds_lane_commit_seconds',
      help: 'Time from taking a batch to its last commit, retries included',
      labels,
    });
    metrics.gauge(
      { name: 'cds_lane_depth', help: 'Pieces of work that wait for a commit', labels, together: 'sum' },
      () => this.samples(({ depth }) => depth),
    );
    metrics.gauge(
      {
        name: 'cds_lane_waiting_bytes',
        help: 'Bytes that wait for a commit or are being committed',
        labels,
        together: 'sum',
      },
      () => this.samples(({ waitingBytes }) => waitingBytes),
    );
  }

  /** The observer of the group commits of a feature. `name` is their label in metrics and traces; the feature chooses it once. */
  of(name: string): GroupCommitObserver {
    const labels = { lane: name };
    const states: GroupCommitState[] = [];
    this.groupCommits.set(name, states);
    return {
      begin: (state) => void states.push(state),
      mark: () => this.tracing.current(),
      around: async (marks, run) => {
        const startedAt = performance.now();
        try {
          return await this.tracing.commit(name, marks, run);
        } finally {
          this.sizes.observe(labels, marks.length);
          this.times.observe(labels, (performance.now() - startedAt) / 1_000);
        }
      },
    };
  }

  private samples(choose: (state: GroupCommitState) => number) {
    return [...this.groupCommits].map(([lane, states]) => ({
      labels: { lane },
      value: states.reduce((sum, state) => sum + choose(state), 0),
    }));
  }
}
