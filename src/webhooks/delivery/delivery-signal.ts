import { Injectable } from '@nestjs/common';

/** Tells the dispatcher of this process that deliveries were added. Polling finds those of other processes. */
@Injectable()
export class DeliverySignal {
  private listener: (() => void) | undefined;

  listen(listener: (() => void) | undefined): void {
    this.listener = listener;
  }

  /** May be called before the deliveries are committed. */
  announce(): void {
    this.listener?.();
  }
}
