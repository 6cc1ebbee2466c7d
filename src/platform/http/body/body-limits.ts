import type { BodyLimits } from './json-body';

/** The configured limits of bodies, by what a body brings. */
export interface BodyLimitsByName {
  /** One record or event. */
  readonly single: BodyLimits;
  /** A batch of events. */
  readonly batch: BodyLimits;
}

/** Injection token of the `BodyLimitsByName` in force. */
export const BODY_LIMITS = Symbol('body limits');
