import type { FailedReplay, ReplayAttempt } from '../../review/domain/resolution';
import type { ReplayResult } from './replay-result';

/**
 * What an entry is told of an attempt that leaves it open, in a list of one; empty when the event is in. A duplicate is told
 * too, and counts only for an entry that is still open: one whose event is stored with other content.
 */
export function failedReplay(id: string, attempt: ReplayAttempt, result: ReplayResult): FailedReplay[] {
  switch (result.status) {
    case 'accepted':
    case 'processed':
      return [];
    case 'duplicate':
      return [{ id, resolution: { ...attempt, outcome: 'duplicate' } }];
    case 'failed':
    case 'error': {
      const { code, message, details } = result.status === 'failed' ? result.failure : result.refusal;
      const reason = details[0]?.code ?? code;
      return [{ id, resolution: { ...attempt, outcome: result.status, errorCode: code, reason, message, details } }];
    }
  }
}
