import { Injectable } from '@nestjs/common';

/** Tells the dispatcher of this process what was added. Polling finds what other processes have added. */
@Injectable()
export class DeliverySignal {
  private listener: (() => void) | undefined;
  private changesWereAdded = false;

  listen(listener: (() => void) | undefined): void {
    this.listener = listener;
  }

  /** Deliveries were added. May be called before they are committed. */
  announce(): void {
    this.listener?.();
  }

  /** Changes were stored whose deliveries are to be added. May be called before they are committed. */
  announceChanges(): void {
    this.changesWereAdded = true;
    this.announce();
  }

  /** Whether changes were announced since the last call. */
  takeChanges(): boolean {
    const wereAdded = this.changesWereAdded;
    this.changesWereAdded = false;
    return wereAdded;
  }
}
