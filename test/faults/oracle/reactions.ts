/** Each event that a reaction matched adds one to a counter of the participant that it names. */
export interface ReactionCounts {
  /** By subject: events that were stored. */
  readonly stored: Readonly<Record<string, number>>;
  /** By subject: what the counter says. */
  readonly counted: Readonly<Record<string, number>>;
  /** What the counter of the campaign says, which all of them add to. */
  readonly total: number;
  /** Entries that are left in the queue. */
  readonly queued: number;
  /** Events whose processing was given up. */
  readonly failed: number;
}

/** What is wrong when every reaction should have taken effect once. */
export function reactionViolations({ stored, counted, total, queued, failed }: ReactionCounts): string[] {
  const violations: string[] = [];
  if (queued > 0) violations.push(`${queued} events are left in the queue`);
  if (failed > 0) violations.push(`the processing of ${failed} events was given up`);
  for (const subject of new Set([...Object.keys(stored), ...Object.keys(counted)])) {
    const [wanted, seen] = [stored[subject] ?? 0, counted[subject] ?? 0];
    if (seen < wanted) violations.push(`reactions were lost: ${subject} ${seen} of ${wanted}`);
    if (seen > wanted) violations.push(`reactions took effect more than once: ${subject} ${seen} of ${wanted}`);
  }
  const all = Object.values(stored).reduce((sum, count) => sum + count, 0);
  if (total !== all) violations.push(`the campaign has counted ${total} of ${all}`);
  return violations;
}
