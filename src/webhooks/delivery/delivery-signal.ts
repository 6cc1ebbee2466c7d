import { Injectable } from '@nestjs/common';
import type { EndpointKey } from './claimed-delivery';

/** Tells the dispatcher of this process what was added and committed. Polling finds what other processes have added. */
@Injectable()
export class DeliverySignal {
  private listener: ((endpoints: readonly EndpointKey[]) => void) | undefined;
  private changesWereAdded = false;

  listen(listener: ((endpoints: readonly EndpointKey[]) => void) | undefined): void {
    this.listener = listener;
  }

  /** Deliveries of these endpoints are due. */
  announce(endpoints: readonly EndpointKey[]): void {
    this.listener?.(endpoints);
  }

  /** Changes were stored whose deliveries are to be added. */
  announceChanges(): void {
    this.changesWereAdded = true;
    this.announce([]);
  }

  /** Whether changes were announced since `takeChanges`. */
  get hasChanges(): boolean {
    return this.changesWereAdded;
  }

  takeChanges(): void {
    this.changesWereAdded = false;
  }
}
