import type { Logger } from '@nestjs/common';

/** The log lines of an outage. The reason is appended to `began`. */
export interface OutageWords {
  readonly began: string;
  readonly ended: string;
}

/** Logs an outage once when it begins and once when it ends, instead of a line for each attempt. */
export class OutageLog {
  private isOut = false;

  constructor(
    private readonly logger: Pick<Logger, 'log' | 'warn'>,
    private readonly words: OutageWords,
  ) {}

  /** An attempt has failed. `why` contains no sensitive data (see `describeError`). */
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
