import type { Family } from './family';
import type { DoneLines } from './done-lines';
import type { Written } from './errors-file';
import type { Fingerprint } from './input';

/** What came of the lines that are done, each counted once, in whichever run. */
export interface Counts {
  readonly accepted: number;
  readonly duplicate: number;
  readonly errors: number;
}

export const NOTHING_COUNTED: Counts = { accepted: 0, duplicate: 0, errors: 0 };

/** What a run that was interrupted leaves to the one that goes on. */
export interface SendState {
  readonly format: typeof FORMAT;
  readonly fingerprint: Fingerprint;
  readonly url: string;
  /** Undefined as long as no event was read. */
  readonly family: Family | undefined;
  /** Absolute path. */
  readonly errors: string;
  readonly errorsWritten: Written;
  readonly done: DoneLines;
  readonly counts: Counts;
  /** Whether the service has answered for any line. Until then there is nothing to go on with. */
  readonly isAnswered: boolean;
  readonly seconds: number;
  readonly runs: number;
  /** Requests that were made again because the one before had failed. */
  readonly repeatedRequests: number;
}

export const FORMAT = 'cds events send 1';
