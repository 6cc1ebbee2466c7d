import type { ReviewStage, ReviewStatus } from './review-entry';

/** Selects the entries that match every field. */
export interface ReviewFilter {
  readonly status?: ReviewStatus;
  readonly stage?: ReviewStage;
  readonly reason?: string;
  readonly source?: string;
  readonly eventType?: string;
}

/** Selects entries of one status. */
export type SingleStatusFilter = ReviewFilter & { readonly status: ReviewStatus };

/** SQL of whether an entry has the values of `filterParameters`, the first of which is the parameter of this number. */
export function matchesParameters(first: number): string {
  const columns = Object.values({
    stage: 'stage',
    reason: 'reason',
    source: 'source',
    eventType: 'event_type',
  } satisfies Record<Exclude<keyof ReviewFilter, 'status'>, string>);
  return columns
    .map((column, index) => `($${first + index}::text IS NULL OR ${column} = $${first + index})`)
    .join(' AND ');
}

/**
 * The fields beside the status as parameters of a statement, always in this order; null matches all. A further field does
 * not compile until it is here, and then fails in each statement that does not use its parameter: a bulk dismissal that
 * ignored a field would close more than was selected.
 */
export function filterParameters({ stage, reason, source, eventType }: ReviewFilter): (string | null)[] {
  const fields = { stage, reason, source, eventType } satisfies Record<Exclude<keyof ReviewFilter, 'status'>, unknown>;
  return Object.values(fields).map((value) => value ?? null);
}
