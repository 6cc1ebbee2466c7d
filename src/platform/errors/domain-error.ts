import { capFaults, FAULTS_MAX } from './cap-faults';
import type { ErrorCode } from './error-codes';
import type { Fault } from './fault';

export interface DomainErrorExtras {
  /** Every fault found; `details` of the answer. */
  readonly details?: readonly Fault[];
  /** The state path of a refused mutation; `path` of the answer. */
  readonly path?: string;
  /** Seconds, for `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Further answer headers, for example `Allow` or `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The message for a request that only reads, which has no effect that could have taken place. */
  readonly messageOfRead?: string;
  /** The underlying error; logged, never answered. */
  readonly cause?: unknown;
}

/** A refusal by a rule: a code and a message for the client. Only the platform's filter knows its HTTP status. */
export class DomainError extends Error {
  /** At most 1,000, and a last one that says how many more there are. */
  readonly details: readonly Fault[];

  /** `message` reaches the client as `message` and `detail`, so it never repeats an identity, property or credential. */
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extras: DomainErrorExtras = {},
  ) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'DomainError';
    this.details = capFaults(extras.details ?? [], FAULTS_MAX);
  }

  /** The same refusal of a request that only reads. */
  ofRead(): DomainError {
    const { messageOfRead, ...extras } = this.extras;
    return messageOfRead === undefined ? this : new DomainError(this.code, messageOfRead, extras);
  }
}
