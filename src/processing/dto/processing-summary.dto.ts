/** How the processing of a workspace's events keeps up. */
export class ProcessingSummaryDto {
  /** Events that wait to be processed, those included that failed and will be tried again. */
  queued!: number;

  /** When the oldest of them was taken; null when none waits. */
  oldestQueuedAt!: Date | null;

  /** Events processed in the last minute, give or take ten seconds. */
  processedLastMinute!: number;

  /** Events that failed for good and have not been replayed since. */
  failed!: number;
}
