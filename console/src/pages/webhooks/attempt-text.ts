import type { Schema } from '../../api/api-types';

export type Attempt = Schema<'AttemptDto'>;

const OUTCOMES: Readonly<Record<Attempt['outcome'], string>> = {
  delivered: 'delivered',
  refused_status: 'refused by its status',
  timed_out: 'no answer in time',
  address_refused: 'the address is not allowed',
  not_resolved: 'the name has no address',
  not_connected: 'no connection',
};

/** What came of a call, in a few words. */
export function attemptText({ outcome, status, durationMs }: Attempt): string {
  const answer = status === null ? OUTCOMES[outcome] : `${status} ${OUTCOMES[outcome]}`;
  return `${answer}, ${durationMs.toLocaleString()} ms`;
}

const REASONS = {
  attempts_used_up: 'all attempts are used up',
  event_gone: 'what it was for is not stored any more',
  change_expired: 'the change waited for 90 days',
  profile_erased: 'the person was erased',
};

/** Why a delivery failed for good; a dash while it has not. */
export function reasonText(reason: Schema<'DeliveryDto'>['reason']): string {
  return reason === null ? '–' : REASONS[reason];
}
