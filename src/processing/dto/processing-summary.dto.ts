/** The backlog of a workspace, and its throughput. */
export class ProcessingSummaryDto {
  /** Events that are not processed yet, including those that failed and will be retried. */
  queued!: number;

  /** When the oldest of them was taken; null when none waits. */
  oldestQueuedAt!: Date | null;

  /** Events processed in the last minute, give or take ten seconds. */
  processedLastMinute!: number;

  /** Events that failed for good and have not been replayed since. */
  failed!: number;
}
