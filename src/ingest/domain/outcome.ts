import type { Refusal } from './incoming-event';

/** What is odd about an event that was taken all the same (contract section 7). */
export type WarningReason =
  'payload_mismatch' | 'identity_link_refused' | 'identity_limit_reached' | 'clock_skew' | 'event_type_deprecated';

/** What became of one event on its way into the database. */
export type Outcome =
  | {
      readonly status: 'accepted' | 'duplicate';
      readonly warnings: readonly WarningReason[];
      /** What the stored event says, so that further copies can be compared with it. */
      readonly storedHash: string;
      /** Settled in memory, by what became of another copy: its warnings are not in the review area yet. */
      readonly copy?: true;
    }
  | { readonly status: 'refused'; readonly code: Refusal['code'] };

/** What the sender of an event is told (specification, event ingest result). */
export type IngestResult =
  | { readonly status: 'accepted'; readonly eventId: string }
  | { readonly status: 'duplicate'; readonly eventId: string }
  | { readonly status: 'error'; readonly refusal: Refusal };
