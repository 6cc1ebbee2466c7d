import type { HeldCustomer } from '../../identity/domain/known-identities';
import type { LoggedEvent } from '../../ingest/domain/logged-event';
import type { ChangeToSend } from '../domain/change-delivery';

/** An endpoint that has deliveries to send. */
export interface DueEndpoint {
  readonly tenantId: string;
  readonly endpointId: string;
  /** It is enabled, and a delivery is due. Null: it was deleted. */
  readonly isDue: boolean | null;
  readonly url: string;
  readonly unmask: boolean;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly failingSince: Date | null;
}

/** A queue of deliveries: those of one profile at one endpoint. */
export interface QueueKey {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly profileId: string;
}

/** The first delivery of a queue, claimed by this process. */
export interface ClaimedDelivery extends QueueKey {
  readonly claimId: string;
  /** Of the event, or of the change. */
  readonly eventId: string;
  readonly seq: string;
  /** Failed attempts so far. */
  readonly failures: number;
  readonly firstAttemptAt: Date | null;
  /** What is sent. */
  readonly subject: DeliverySubject;
}

/** What a delivery is about. */
export type DeliverySubject =
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
