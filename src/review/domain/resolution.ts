import type { Fault } from '../../platform/errors/fault';

/** One attempt to replay an entry. */
export interface ReplayAttempt {
  readonly action: 'replayed';
  /** ISO 8601. */
  readonly at: string;
  /** The id of the credential. */
  readonly by: string;
  /** The bulk replay that the attempt is part of. */
  readonly jobId?: string;
  /** The caller sent a corrected payload. */
  readonly corrected?: true;
}

/** An entry whose event a replay stored or processed. */
export interface ReplayedEntry {
  readonly tenantId: string;
  readonly id: string;
  readonly eventId: string;
  readonly resolution: ReplayAttempt & {
    readonly outcome: 'accepted' | 'duplicate' | 'processed';
    readonly eventId: string;
  };
}

/** A replay that did not store or process the event. The entry stays open, and `resolution` shows the last attempt. */
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

/** A user closed the entry: it needs no action. */
export interface Dismissal {
  readonly action: 'dismissed';
  readonly at: string;
  readonly by: string;
  readonly note?: string;
  /** The bulk dismissal that it is part of. */
  readonly jobId?: string;
}
