import type { IngestResult } from '../../ingest/domain/outcome';
import type { FailedReplay, ReplayAttempt } from '../../review/domain/resolution';

/**
 * What an entry is told of an attempt that leaves it open, in a list of one; empty when the event is in. A duplicate is told
 * too, and counts only for an entry that is still open: one whose event is stored with other content.
 */
export function failedReplay(id: string, attempt: ReplayAttempt, result: IngestResult): FailedReplay[] {
  if (result.status === 'accepted') return [];
  if (result.status === 'duplicate') return [{ id, resolution: { ...attempt, outcome: 'duplicate' } }];
  const { code, message, details } = result.refusal;
  const reason = details[0]?.code ?? code;
  return [{ id, resolution: { ...attempt, outcome: 'error', errorCode: code, reason, message, details } }];
}
