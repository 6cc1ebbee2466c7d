import type { StoredEntry } from '../../review/domain/review-entry';
import type { ReplayResult } from './replay-result';

/** The number of entries by result. Each entry counts once. */
export interface ReplayCounts {
  /** The replay stored or processed the event. */
  readonly accepted: number;
  /** The event was stored or processed already. */
  readonly duplicate: number;
  /** The event was refused again, or there was nothing to send. */
  readonly failed: number;
}

/** The next step for one entry: send it, or count it as done before. */
export type ReplayStep = { readonly send: StoredEntry } | { readonly counted: keyof ReplayCounts };

/** How each result of a replay counts. */
export const COUNTED_AS: Readonly<Record<ReplayResult['status'], keyof ReplayCounts>> = {
  accepted: 'accepted',
  processed: 'accepted',
  duplicate: 'duplicate',
  error: 'failed',
  failed: 'failed',
};

/** `COUNTED_AS` for a stored resolution, whose `outcome` is any text. */
const COUNTED_AS_STORED: Readonly<Record<string, keyof ReplayCounts>> = COUNTED_AS;

/**
 * Decides what to do with an entry as it is stored now; undefined: it does not exist any more. If a process was killed
 * within a piece, the piece starts again. Entries that it replayed before have the job's id in their resolution.
 */
export function replayStep(entry: StoredEntry | undefined, jobId: string): ReplayStep {
  if (entry === undefined) return { counted: 'failed' };
  const { status, resolution } = entry;
  if (resolution?.['jobId'] === jobId) return { counted: COUNTED_AS_STORED[String(resolution['outcome'])] ?? 'failed' };
  switch (status) {
    case 'open':
      return { send: entry };
    case 'replayed':
    case 'superseded':
      // The event is stored by now. Sending this payload again could only leave a `payload_mismatch` warning.
      return { counted: 'duplicate' };
    case 'dismissed':
      // A user decided meanwhile not to accept the event.
      return { counted: 'failed' };
  }
}
