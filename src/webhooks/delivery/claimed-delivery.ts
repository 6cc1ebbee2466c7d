import type { HeldCustomer } from '../../identity/domain/known-identities';
import type { LoggedEvent } from '../../ingest/domain/event';
import type { ChangeToSend } from '../domain/stored-change';

export interface EndpointKey {
  readonly tenantId: string;
  readonly endpointId: string;
}

/** What is needed of an endpoint to send it something. */
export interface DueEndpoint extends EndpointKey {
  readonly url: string;
  readonly unmask: boolean;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly olderSecret: Buffer | null;
  readonly failingSince: Date | null;
  readonly enabledAt: Date | null;
}

/** A queue of deliveries at one endpoint: those of one profile, of one participant or of one shared value. */
export interface QueueKey extends EndpointKey {
  /** Of events the own profile of the event; of changes the id that `changeQueueId` makes. The column is `profile_id`. */
  readonly queueId: string;
}

/** The first delivery of a queue, claimed by this process. */
export interface ClaimedDelivery extends QueueKey {
  readonly claimId: string;
  /** As it was at the end of the claim. */
  readonly endpoint: DueEndpoint;
  /** Of the event, or of the change. */
  readonly eventId: string;
  readonly seq: string;
  /** Failed attempts since the endpoint was enabled. */
  readonly failures: number;
  /** The first of them; null: the next attempt is the first. */
  readonly firstAttemptAt: Date | null;
  readonly item: DeliveryItem;
}

/** What a delivery sends. */
export type DeliveryItem =
  | {
      readonly kind: 'event';
      /** Undefined: it is gone. */
      readonly event: LoggedEvent | undefined;
      /** The customer that it belongs to now. */
      readonly customer: HeldCustomer | undefined;
    }
  | {
      readonly kind: 'change';
      /** Undefined: it was erased. */
      readonly change: ChangeToSend | undefined;
    };
