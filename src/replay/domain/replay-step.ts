import type { StoredEntry } from '../../review/domain/review-entry';
import type { ReplayCounts } from './replay-progress';
import type { ReplayResult } from './replay-result';

/** What a bulk replay does about one of its entries: sends it, or counts what has become of it already. */
export type ReplayStep = { readonly send: StoredEntry } | { readonly counted: keyof ReplayCounts };

/** As what a bulk replay counts each thing that can become of an entry. */
export const COUNTED_AS: Readonly<Record<ReplayResult['status'], keyof ReplayCounts>> = {
  accepted: 'accepted',
  processed: 'accepted',
  duplicate: 'duplicate',
  error: 'failed',
  failed: 'failed',
};

/** The same by what stands in the database. */
const COUNTED_AS_STORED: Readonly<Record<string, keyof ReplayCounts>> = COUNTED_AS;

/**
 * `entry` is what is kept now; undefined when it is gone. A replay that was killed in the middle of a piece begins that
 * piece again: what it has done by then stands in the entries themselves, with its id.
 */
export function replayStep(entry: StoredEntry | undefined, jobId: string): ReplayStep {
  if (entry === undefined) return { counted: 'failed' };
  const { status, resolution } = entry;
  if (resolution?.['jobId'] === jobId) return { counted: COUNTED_AS_STORED[String(resolution['outcome'])] ?? 'failed' };
  // Its event has come in meanwhile. What is kept here may differ from it, and would only leave a warning.
  if (status === 'replayed' || status === 'superseded') return { counted: 'duplicate' };
  // Somebody has decided meanwhile that it is not to come in.
  if (status === 'dismissed') return { counted: 'failed' };
  return { send: entry };
}
