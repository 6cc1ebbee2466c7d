import type { Customer } from '../../../identity/domain/known-identities';
import type { TimelineExtent } from '../../../ingest/log/timeline';

/** A customer with what its timeline adds. */
export interface CustomerView {
  readonly customer: Customer;
  readonly extent: TimelineExtent;
}

export interface CustomerViewPage {
  readonly views: readonly CustomerView[];
  /** Null at the end. */
  readonly nextCursor: string | null;
}

/** An erasure after which the service holds no data of the person. */
export interface FinishedErasure {
  readonly profileId: string;
  readonly erasedAt: Date;
}
