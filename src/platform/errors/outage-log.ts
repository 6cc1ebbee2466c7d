import type { Logger } from '@nestjs/common';

/** What is logged of an outage; why it began is added to the first. */
export interface OutageWords {
  readonly began: string;
  readonly ended: string;
}

/** Tells of an outage once when it begins and once when it is over: a line for each attempt would bury everything else. */
export class OutageLog {
  private isOut = false;

  constructor(
    private readonly logger: Pick<Logger, 'log' | 'warn'>,
    private readonly words: OutageWords,
  ) {}

  /** An attempt has failed; `why` holds nothing that nobody may read (see `describeError`). */
  failed(why: string): void {
    if (!this.isOut) this.logger.warn(`${this.words.began} ${why}`);
    this.isOut = true;
  }

  /** An attempt has succeeded. */
  succeeded(): void {
    if (this.isOut) this.logger.log(this.words.ended);
    this.isOut = false;
  }
}
