import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CustomerSplits, type CustomerSplit } from '../../identity/customer-splits';
import type { EndpointKey } from './claimed-delivery';
import { WAKE_PROFILES } from './delivery.sql';
import { DeliverySignal } from './delivery-signal';

/** Wakes the queues of profiles whose merge was undone: they wait for each other no more. */
@Injectable()
export class SplitCustomers implements OnModuleInit {
  constructor(
    private readonly splits: CustomerSplits,
    private readonly database: DataSource,
    private readonly signal: DeliverySignal,
  ) {}

  onModuleInit(): void {
    this.splits.register((split) => this.wake(split));
  }

  private async wake({ tenantId, profileIds }: CustomerSplit): Promise<void> {
    // TypeORM returns [rows, count] for a statement that changes rows.
    const [woken]: [EndpointKey[], number] = await this.database.query(WAKE_PROFILES, [tenantId, profileIds]);
    if (woken.length > 0) this.signal.announce(woken);
  }
}
