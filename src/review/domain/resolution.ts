import type { Fault } from '../../platform/errors/fault';

/** Who sends an event of the review area again, and when. */
export interface ReplayAttempt {
  readonly action: 'replayed';
  /** ISO 8601. */
  readonly at: string;
  /** The id of the credential. */
  readonly by: string;
  /** The bulk replay that it is part of. */
  readonly jobId?: string;
  /** The payload was not the one that is kept. */
  readonly corrected?: true;
}

/** An entry whose event is stored now, or processed. */
export interface ReplayedEntry {
  readonly tenantId: string;
  readonly id: string;
  readonly eventId: string;
  readonly resolution: ReplayAttempt & {
    readonly outcome: 'accepted' | 'duplicate' | 'processed';
    readonly eventId: string;
  };
}

/** An entry whose event could not be taken again; it stays open, and its resolution tells of the last attempt. */
export interface FailedReplay {
  readonly id: string;
  readonly resolution: ReplayAttempt & {
    readonly outcome: 'duplicate' | 'error' | 'failed';
    readonly errorCode?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly details?: readonly Fault[];
  };
}

/** Somebody has looked at it and decided that nothing is to be done. */
export interface Dismissal {
  readonly action: 'dismissed';
  readonly at: string;
  readonly by: string;
  readonly note?: string;
}
