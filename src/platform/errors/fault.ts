import type { FaultCode } from './fault-codes';

/**
 * One thing that is wrong with an input (contract section 1, `details`).
 *
 * `path` names the field the way the client wrote it (`identity.type`, `items[3].source`); the empty string is the
 * whole body. `message` says what is wrong and how to correct it, and never repeats the value.
 */
export interface Fault {
  readonly path: string;
  readonly code: FaultCode;
  readonly message: string;
}
