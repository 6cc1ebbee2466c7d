import { Injectable } from '@nestjs/common';
import type { ReadRows } from '../../platform/postgres/prepared-query';

/** What became of an event at an endpoint outside. */
export interface DeliveryView {
  readonly webhookId: string;
  readonly state: string;
  readonly attemptCount: number;
}

/** Finds the deliveries of events, by event id; events without any may be missing. */
type FindDeliveries = (
  read: ReadRows,
  tenantId: string,
  eventIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly DeliveryView[]>>;

/** Knows the deliveries of events. The feature that sends events registers itself while the application starts. */
@Injectable()
export class DeliveryViews {
  private find: FindDeliveries = () => Promise.resolve(new Map());

  register(find: FindDeliveries): void {
    this.find = find;
  }

  of(
    read: ReadRows,
    tenantId: string,
    eventIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly DeliveryView[]>> {
    return eventIds.length === 0 ? Promise.resolve(new Map()) : this.find(read, tenantId, eventIds);
  }
}
