import { Injectable, Logger } from '@nestjs/common';
import { describeError } from '../platform/errors/error-summary';

/** Profiles of customers that were one until now. */
export interface CustomerSplit {
  readonly tenantId: string;
  readonly profileIds: readonly string[];
}

/** Features that wait for other profiles of a customer, which may have left it. */
@Injectable()
export class CustomerSplits {
  private readonly logger = new Logger(CustomerSplits.name);
  private readonly listeners: ((split: CustomerSplit) => Promise<void>)[] = [];

  register(listener: (split: CustomerSplit) => Promise<void>): void {
    this.listeners.push(listener);
  }

  /** Call it after the commit. Listeners may miss a split, as when the process is killed, so a failure is only logged. */
  async announce(split: CustomerSplit): Promise<void> {
    for (const listener of this.listeners) {
      try {
        await listener(split);
      } catch (error) {
        const { line, stack } = describeError(error);
        this.logger.error(`What waits for a split customer looks by itself later: ${line}`, stack);
      }
    }
  }
}
